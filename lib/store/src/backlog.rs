//! The unread messages of a subscription, bounded: a reader that stops reading loses its subscription, and uses no more
//! memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use coord_runtime::mutex::lock;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use tokio::sync::Notify;

/// Maximum number of unread messages.
const MAX_WAITING: usize = 1024;
/// Maximum bytes of unread messages, except that a single message may be larger. (Redis ends a subscription at 32 MiB,
/// or at 8 MiB for a minute.)
const MAX_WAITING_BYTES: usize = 8 << 20;

#[derive(Debug, Default)]
struct MessageQueue {
    messages: VecDeque<Bytes>,
    bytes: usize,
    is_closed: bool,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<MessageQueue>,
    changed: Notify,
}

/// The sending end of a subscription. When it is dropped, the stream ends after the messages that wait.
#[derive(Debug)]
pub struct Backlog(Weak<Shared>);

impl Backlog {
    /// Both ends of a subscription: messages are pushed to the first, and read from the second.
    pub fn open() -> (Backlog, BoxStream<'static, Bytes>) {
        let shared = Arc::new(Shared::default());
        let backlog = Backlog(Arc::downgrade(&shared));
        let messages = stream::unfold(shared, async |shared| {
            loop {
                let next = {
                    let mut waiting = lock(&shared.waiting);
                    let next = waiting.messages.pop_front();
                    waiting.bytes -= next.as_ref().map_or(0, Bytes::len);
                    next.ok_or(waiting.is_closed)
                };
                match next {
                    Ok(message) => return Some((message, shared)),
                    Err(true) => return None,
                    Err(false) => shared.changed.notified().await,
                }
            }
        });
        (backlog, messages.boxed())
    }

    /// Whether anyone reads the subscription.
    pub fn has_reader(&self) -> bool {
        self.0.upgrade().is_some_and(|shared| !lock(&shared.waiting).is_closed)
    }

    /// Adds a message. Returns whether the subscription is still open: it closes when its reader is gone or has fallen
    /// too far behind. Then the unread messages are dropped, because the reader has to start over.
    pub fn push(&self, message: &Bytes) -> bool {
        let Some(shared) = self.0.upgrade() else { return false };
        let mut waiting = lock(&shared.waiting);
        let bytes = waiting.bytes + message.len();
        let has_room =
            waiting.messages.is_empty() || (waiting.messages.len() < MAX_WAITING && bytes <= MAX_WAITING_BYTES);
        if has_room && !waiting.is_closed {
            waiting.messages.push_back(message.clone());
            waiting.bytes = bytes;
        } else {
            *waiting = MessageQueue {
                is_closed: true,
                ..MessageQueue::default()
            };
        }
        let is_open = !waiting.is_closed;
        drop(waiting);
        shared.changed.notify_one();
        is_open
    }
}

impl Drop for Backlog {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            lock(&shared.waiting).is_closed = true;
            shared.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn count(mut messages: BoxStream<'static, Bytes>) -> usize {
        let mut count = 0;
        while messages.next().await.is_some() {
            count += 1;
        }
        count
    }

    #[tokio::test]
    async fn a_reader_that_falls_behind_in_number_or_in_bytes_loses_all_that_waits() {
        for (bytes, fitting) in [(1, MAX_WAITING), (MAX_WAITING_BYTES / 4, 4), (2 * MAX_WAITING_BYTES, 1)] {
            let message = Bytes::from(vec![b'x'; bytes]);
            let (backlog, messages) = Backlog::open();
            for _ in 0..fitting {
                assert!(backlog.push(&message));
            }
            assert!(backlog.has_reader() && !backlog.push(&message) && !backlog.has_reader());
            assert_eq!(
                backlog.0.upgrade().map(|shared| lock(&shared.waiting).messages.len()),
                Some(0)
            );
            assert!(!backlog.push(&message), "it is closed");
            assert_eq!(count(messages).await, 0);
        }
    }

    #[tokio::test]
    async fn a_reader_that_keeps_up_gets_all_and_the_end() {
        let (backlog, mut messages) = Backlog::open();
        let message = Bytes::from(vec![b'x'; MAX_WAITING_BYTES / 2]);
        for _ in 0..10 {
            assert!(backlog.push(&message));
            assert_eq!(messages.next().await, Some(message.clone()));
        }
        assert!(backlog.push(&message) && backlog.push(&message));
        drop(backlog);
        assert_eq!(count(messages).await, 2);
        let (backlog, messages) = Backlog::open();
        drop(messages);
        assert!(!backlog.push(&message) && !backlog.has_reader());
    }
}

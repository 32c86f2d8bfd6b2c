//! Channels within this process. The committer delivers a message once the change that it reports is durable.

use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt};
use parking_lot::Mutex;
use std::collections::HashMap;
use tokio::sync::broadcast;

/// Messages that a slow subscriber may fall behind before its stream ends.
const BACKLOG: usize = 1024;

/// A message on its way to its channel.
pub(super) struct Message {
    /// The name of the channel.
    pub channel: Vec<u8>,
    /// The content.
    pub payload: Bytes,
}

/// The channels with subscribers.
#[derive(Default)]
pub(super) struct Channels {
    senders: Mutex<HashMap<Vec<u8>, broadcast::Sender<Bytes>>>,
}

impl Channels {
    /// Number of subscribers of `channel`.
    pub fn listeners(&self, channel: &[u8]) -> usize {
        self.senders
            .lock()
            .get(channel)
            .map_or(0, broadcast::Sender::receiver_count)
    }

    /// Delivers `message` to all subscribers.
    pub fn deliver(&self, message: &Message) {
        let mut senders = self.senders.lock();
        let is_left = senders
            .get(&message.channel)
            .is_some_and(|sender| sender.send(message.payload.clone()).is_err());
        if is_left {
            senders.remove(&message.channel);
        }
    }

    /// The messages on `channel` from now on. The stream ends when its reader falls too far behind.
    pub fn subscribe(&self, channel: &[u8]) -> BoxStream<'static, Bytes> {
        let mut senders = self.senders.lock();
        senders.retain(|_, sender| sender.receiver_count() > 0);
        let receiver = senders
            .entry(channel.to_vec())
            .or_insert_with(|| broadcast::channel(BACKLOG).0)
            .subscribe();
        drop(senders);
        futures::stream::unfold(receiver, |mut receiver| async move {
            // Lagging and closing both end the stream: the caller reads missed events from the log.
            receiver.recv().await.ok().map(|payload| (payload, receiver))
        })
        .boxed()
    }

    /// Ends every stream.
    pub fn close(&self) {
        self.senders.lock().clear();
    }
}

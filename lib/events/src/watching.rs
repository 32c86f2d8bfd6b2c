//! One watcher's position in the log and the feed.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::EncodedEvent;
use super::feed::{Feed, FeedMessage, WatchStart, wait_until_closed};
use coord_domain::EventId;
use coord_store::StoreError;

/// A watcher's next item.
#[derive(Debug)]
pub enum WatchItem {
    Event(Arc<EncodedEvent>),
    /// Events now arrive as they happen, or no longer do.
    Live(bool),
    /// Events are lost. Events from now on follow.
    Gap,
    /// The watcher was too slow.
    Slow,
    Stopped,
}

/// A watch of one repository.
pub struct EventWatch {
    feed: Arc<Feed>,
    notifications: Receiver<FeedMessage>,
    closed: watch::Receiver<bool>,
    /// Events up to this one have to be read from the log.
    read_until: Option<EventId>,
    /// Events that were read from the log.
    logged: VecDeque<Arc<EncodedEvent>>,
    /// The recent events of the feed when the watcher joined.
    recent: VecDeque<Arc<EncodedEvent>>,
    /// The position of the feed when the watcher joined.
    joined_at: EventId,
    /// The newest event that was handed out, or after which events are wanted.
    position: EventId,
    is_live: bool,
    /// The watcher has events that the feed lacks: the feed is late, or the log was replaced.
    is_ahead: bool,
}

impl EventWatch {
    pub(super) fn new(start: WatchStart, after: Option<EventId>, closed: watch::Receiver<bool>) -> EventWatch {
        EventWatch {
            feed: start.feed,
            notifications: start.notifications,
            closed,
            read_until: start.read_until,
            logged: VecDeque::new(),
            recent: start.recent,
            joined_at: start.position,
            position: after.unwrap_or(start.position),
            is_live: start.is_live,
            is_ahead: after.is_some_and(|after| after > start.position),
        }
    }

    /// The cursor from which the watcher can resume.
    pub fn position(&self) -> EventId {
        self.position
    }

    /// Whether events arrive as they happen.
    pub fn is_live(&self) -> bool {
        self.is_live
    }

    /// The next item. If the future is dropped, nothing is lost.
    ///
    /// # Errors
    /// When the log has to be read, and the store does not respond.
    pub async fn next(&mut self) -> Result<WatchItem, StoreError> {
        if *self.closed.borrow() {
            return Ok(WatchItem::Stopped);
        }
        if self.is_ahead {
            let newest = self.feed.newest_id().await?;
            self.is_ahead = false;
            if newest < self.position {
                return Ok(self.skip_to_feed());
            }
        }
        if !self.read_log().await? {
            return Ok(self.skip_to_feed());
        }
        while let Some(event) = self.logged.pop_front().or_else(|| self.recent.pop_front()) {
            if let Some(event) = self.advance(event) {
                return Ok(WatchItem::Event(event));
            }
        }
        loop {
            let message = tokio::select! {
                message = self.notifications.recv() => message,
                () = wait_until_closed(&mut self.closed) => return Ok(WatchItem::Stopped),
            };
            match message {
                Ok(FeedMessage::Event(event)) => {
                    if let Some(event) = self.advance(event) {
                        return Ok(WatchItem::Event(event));
                    }
                }
                Ok(FeedMessage::Live(is_live)) => {
                    self.is_live = is_live;
                    return Ok(WatchItem::Live(is_live));
                }
                Ok(FeedMessage::Gap(end)) => {
                    self.joined_at = end;
                    return Ok(self.skip_to_feed());
                }
                Err(RecvError::Lagged(_)) => return Ok(WatchItem::Slow),
                Err(RecvError::Closed) => return Ok(WatchItem::Stopped),
            }
        }
    }

    /// Reads the log, if events of it come first. Returns false if the log no longer reaches back to the position.
    async fn read_log(&mut self) -> Result<bool, StoreError> {
        while self.logged.is_empty()
            && let Some(until) = self.read_until
        {
            let Some((read_until, events)) = self.feed.read_log(self.position, until).await? else {
                return Ok(false);
            };
            if events.is_empty() {
                self.position = read_until;
            }
            self.logged = events;
            self.read_until = Some(until).filter(|until| read_until < *until);
        }
        Ok(true)
    }

    /// `event`, unless the watcher already has it.
    fn advance(&mut self, event: Arc<EncodedEvent>) -> Option<Arc<EncodedEvent>> {
        if let Some(id) = event.id {
            if id <= self.position {
                return None;
            }
            self.position = id;
        }
        Some(event)
    }

    /// Continues at the position of the feed.
    fn skip_to_feed(&mut self) -> WatchItem {
        self.position = self.joined_at;
        self.read_until = None;
        self.logged.clear();
        self.recent.clear();
        WatchItem::Gap
    }
}

//! One watcher's way through the log and the feed.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::Published;
use super::feed::{Feed, FeedMessage, WatchStart, is_closed};
use coord_domain::EventId;
use coord_store::StoreError;

/// A watcher's next item.
#[derive(Debug)]
pub enum WatchItem {
    Event(Arc<Published>),
    /// Whether events arrive as they happen has changed.
    Live(bool),
    /// Events are lost. Those from now on follow.
    Gap,
    /// The watcher was too slow.
    Slow,
    Stopped,
}

/// A watching of one repository.
pub struct EventWatch {
    feed: Arc<Feed>,
    notifications: Receiver<FeedMessage>,
    closed: watch::Receiver<bool>,
    /// Events up to this one have to be read from the log.
    read_until: Option<EventId>,
    /// Those that were read.
    logged: VecDeque<Arc<Published>>,
    /// The recent events of the feed when the watcher joined.
    recent: VecDeque<Arc<Published>>,
    /// Where the feed was then.
    joined_at: EventId,
    /// The newest event that was handed out, or after which events are wanted.
    position: EventId,
    is_live: bool,
    /// The watcher has events that the feed has not: the feed is late, or the log is no longer the same.
    is_ahead: bool,
}

impl EventWatch {
    pub(super) fn new(joined: WatchStart, after: Option<EventId>, closed: watch::Receiver<bool>) -> EventWatch {
        EventWatch {
            feed: joined.feed,
            notifications: joined.notifications,
            closed,
            read_until: joined.read_until,
            logged: VecDeque::new(),
            recent: joined.recent,
            joined_at: joined.position,
            position: after.unwrap_or(joined.position),
            is_live: joined.is_live,
            is_ahead: after.is_some_and(|after| after > joined.position),
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
            let newest = self.feed.newest().await?;
            self.is_ahead = false;
            if newest < self.position {
                return Ok(self.skip());
            }
        }
        if !self.read_log().await? {
            return Ok(self.skip());
        }
        while let Some(event) = self.logged.pop_front().or_else(|| self.recent.pop_front()) {
            if let Some(event) = self.advance(event) {
                return Ok(WatchItem::Event(event));
            }
        }
        loop {
            let notifications = tokio::select! {
                notifications = self.notifications.recv() => notifications,
                () = is_closed(&mut self.closed) => return Ok(WatchItem::Stopped),
            };
            match notifications {
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
                    return Ok(self.skip());
                }
                Err(RecvError::Lagged(_)) => return Ok(WatchItem::Slow),
                Err(RecvError::Closed) => return Ok(WatchItem::Stopped),
            }
        }
    }

    /// Reads the log where that is to be done before anything else; false where it no longer reaches back.
    async fn read_log(&mut self) -> Result<bool, StoreError> {
        while self.logged.is_empty()
            && let Some(until) = self.read_until
        {
            let Some((read, events)) = self.feed.read_log(self.position, until).await? else {
                return Ok(false);
            };
            if events.is_empty() {
                self.position = read;
            }
            self.logged = events;
            self.read_until = Some(until).filter(|until| read < *until);
        }
        Ok(true)
    }

    /// `event`, unless the watcher has had it.
    fn advance(&mut self, event: Arc<Published>) -> Option<Arc<Published>> {
        if let Some(id) = event.id {
            if id <= self.position {
                return None;
            }
            self.position = id;
        }
        Some(event)
    }

    /// Goes on from where the feed was.
    fn skip(&mut self) -> WatchItem {
        self.position = self.joined_at;
        self.read_until = None;
        self.logged.clear();
        self.recent.clear();
        WatchItem::Gap
    }
}

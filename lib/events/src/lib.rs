//! Live events. A watched repository has one [`feed`] in this process, with one subscription to the channel of the
//! store, for any number of watchers. The log is authoritative: it fills every gap of the channel, and watchers resume
//! from it.
//!
//! - `encoded_event`: an event, encoded once for all watchers
//! - `fake`: a store in memory for tests
//! - `feed`: the events of one repository, in order, each once
//! - `recent`: the newest events, from which most watchers resume without a request to the store
//! - `permits`: the bound on streams
//! - `timing`: intervals of feeds and streams
//! - `watching`: one watcher's position in the log and the feed

mod encoded_event;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod feed;
mod permits;
mod recent;
#[cfg(test)]
mod tests;
mod timing;
mod watching;

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

use tokio::sync::watch;

use coord_domain::{EventId, RepoId};
use coord_runtime::mutex::lock;
use coord_runtime::single_flight::SingleFlight;
use coord_store::{Store, StoreError};
pub use encoded_event::{EncodedEvent, frame};
use feed::{Feed, Feeds};
use permits::Permits;
pub use permits::{Permit, TooManyStreams, Watcher};
pub use timing::Timing;
pub use watching::{EventWatch, WatchItem};

/// The feeds of this process.
pub struct EventHub {
    store: Arc<dyn Store>,
    timing: Timing,
    feeds: Arc<Feeds>,
    openings: SingleFlight<RepoId, Result<(), StoreError>>,
    permits: Permits,
    closed: watch::Sender<bool>,
}

impl EventHub {
    /// A hub over `store`.
    pub fn new(store: Arc<dyn Store>) -> Arc<EventHub> {
        EventHub::with_timing(store, Timing::default())
    }

    /// A hub with other intervals.
    pub fn with_timing(store: Arc<dyn Store>, timing: Timing) -> Arc<EventHub> {
        Arc::new(EventHub {
            store,
            timing,
            feeds: Arc::default(),
            openings: SingleFlight::default(),
            permits: Permits::default(),
            closed: watch::Sender::new(false),
        })
    }

    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// Watches `repo`: the events after `after`, or those from now on.
    ///
    /// # Errors
    /// When the store does not respond, or the hub is closed.
    pub async fn watch(&self, repo: &RepoId, after: Option<EventId>) -> Result<EventWatch, StoreError> {
        loop {
            if self.is_closed() {
                return Err(StoreError::Unreachable("the server stops".to_owned()));
            }
            let joined = self.lock().get(repo).map(|feed| feed.join(after));
            if let Some(joined) = joined {
                return Ok(EventWatch::new(joined, after, self.closed.subscribe()));
            }
            let (store, feeds, timing) = (Arc::clone(&self.store), Arc::clone(&self.feeds), self.timing);
            let (feed_repo, closed) = (repo.clone(), self.closed.subscribe());
            let opening = self.openings.join(repo.clone(), || async move {
                let subscribed = Feed::open(store, feed_repo, timing).await?;
                Feed::start(subscribed, feeds, closed);
                Ok(())
            });
            let outcome = opening.await;
            outcome.unwrap_or_else(|unfinished| Err(StoreError::Failed(unfinished.to_string())))?;
        }
    }

    /// The permit for a stream of `watcher`, which counts until the permit is dropped.
    ///
    /// # Errors
    /// When there are too many streams.
    pub fn permit(&self, watcher: Watcher) -> Result<Permit, TooManyStreams> {
        self.permits.take(watcher)
    }

    /// Ends all watches. Later ones are refused.
    pub fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Whether the hub is closed.
    pub fn is_closed(&self) -> bool {
        *self.closed.borrow()
    }

    /// Whether any repository is watched.
    pub fn is_watched(&self) -> bool {
        self.lock().values().any(|feed| feed.is_watched())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RepoId, Arc<Feed>>> {
        lock(&self.feeds)
    }
}

impl std::fmt::Debug for EventHub {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "EventHub({} feeds)", self.lock().len())
    }
}

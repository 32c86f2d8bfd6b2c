//! The events of one repository, in order, each once: from the channel as they happen, and from the log where the
//! channel has a gap.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, MissedTickBehavior};

use super::recent::RecentEvents;
use super::{EncodedEvent, Timing};
use coord_domain::{EventId, RepoId};
use coord_runtime::mutex::lock;
use coord_state::events::{events_after, keys, newest_events};
use coord_store::{Store, StoreError};

/// Number of events that a watcher may fall behind before it is dropped.
const BACKLOG: usize = 1024;

/// Number of events in one read of the log.
const PAGE: usize = 200;

/// The feeds of a process.
pub(super) type Feeds = Mutex<HashMap<RepoId, Arc<Feed>>>;

/// A feed's notification to its watchers.
#[derive(Clone, Debug)]
pub(super) enum FeedMessage {
    Event(Arc<EncodedEvent>),
    /// Whether events arrive as they happen: not while the store does not respond.
    Live(bool),
    /// Events are lost: the log no longer reaches back to the last event.
    Gap(EventId),
}

/// The feed of a repository.
pub(super) struct Feed {
    store: Arc<dyn Store>,
    repo: RepoId,
    timing: Timing,
    state: Mutex<State>,
    notifications: broadcast::Sender<FeedMessage>,
}

struct State {
    recent: RecentEvents,
    is_live: bool,
}

/// A feed that has a subscription, but does not read it yet.
pub(super) struct SubscribedFeed {
    feed: Arc<Feed>,
    messages: BoxStream<'static, Bytes>,
}

/// A watcher's start.
pub(super) struct WatchStart {
    pub feed: Arc<Feed>,
    pub notifications: broadcast::Receiver<FeedMessage>,
    /// The newest event of the feed.
    pub position: EventId,
    pub is_live: bool,
    /// The recent events that the watcher lacks.
    pub recent: VecDeque<Arc<EncodedEvent>>,
    /// Events up to this one have to be read from the log first.
    pub read_until: Option<EventId>,
}

/// Why the channel is no longer followed.
enum ChannelEnd {
    Stopped,
    Lost(StoreError),
}

impl Feed {
    /// Subscribes to the channel of `repo`, and finds the end of its log.
    ///
    /// # Errors
    /// When the store does not respond.
    pub async fn open(store: Arc<dyn Store>, repo: RepoId, timing: Timing) -> Result<SubscribedFeed, StoreError> {
        let messages = store.subscribe(&keys::events(&repo)).await?;
        let position = newest_id(&*store, &repo).await?;
        let state = State {
            recent: RecentEvents::after(position),
            is_live: true,
        };
        let feed = Arc::new(Feed {
            store,
            repo,
            timing,
            state: Mutex::new(state),
            notifications: broadcast::Sender::new(BACKLOG),
        });
        Ok(SubscribedFeed { feed, messages })
    }

    /// Adds the feed to `feeds`, and follows the channel for as long as the feed is watched.
    pub fn start(subscribed: SubscribedFeed, feeds: Arc<Feeds>, closed: watch::Receiver<bool>) {
        let SubscribedFeed { feed, messages } = subscribed;
        lock(&feeds).insert(feed.repo.clone(), Arc::clone(&feed));
        tokio::spawn(async move {
            feed.follow(messages, &feeds, closed).await;
            let mut feeds = lock(&feeds);
            // Another feed may have replaced it while it had no watchers.
            if feeds.get(&feed.repo).is_some_and(|other| Arc::ptr_eq(other, &feed)) {
                feeds.remove(&feed.repo);
            }
        });
    }

    /// Adds a watcher that has the events up to `after`.
    pub fn join(self: &Arc<Self>, after: Option<EventId>) -> WatchStart {
        let state = lock(&self.state);
        let position = state.recent.position();
        let after = after.unwrap_or(position);
        WatchStart {
            feed: Arc::clone(self),
            notifications: self.notifications.subscribe(),
            position,
            is_live: state.is_live,
            recent: state.recent.later_than(after),
            read_until: Some(state.recent.complete_after()).filter(|complete| after < *complete),
        }
    }

    /// Whether it has watchers.
    pub fn is_watched(&self) -> bool {
        self.notifications.receiver_count() > 0
    }

    /// The newest event of the log.
    pub async fn newest_id(&self) -> Result<EventId, StoreError> {
        newest_id(&*self.store, &self.repo).await
    }

    /// One page of the log's events after `after` and up to `until`, and the event up to which the page reaches. `None`
    /// if the log no longer reaches back to `after`.
    pub async fn read_log(
        &self,
        after: EventId,
        until: EventId,
    ) -> Result<Option<(EventId, VecDeque<Arc<EncodedEvent>>)>, StoreError> {
        let later = events_after(&self.repo, after, PAGE).run(&*self.store).await?;
        // There were events up to `until`, so an empty log has lost them.
        if after != EventId::START && later.oldest.is_none_or(|oldest| oldest > after) {
            return Ok(None);
        }
        let is_last_page = later.events.len() < PAGE;
        let wanted: Vec<_> = later.events.into_iter().take_while(|event| event.id <= until).collect();
        let read_until = match wanted.last() {
            Some(last) if !is_last_page => last.id,
            _ => until,
        };
        let events = wanted.into_iter().filter_map(EncodedEvent::from_log).map(Arc::new);
        Ok(Some((read_until, events.collect())))
    }

    async fn follow(&self, mut messages: BoxStream<'static, Bytes>, feeds: &Feeds, mut closed: watch::Receiver<bool>) {
        let (min_pause, max_pause) = self.timing.pauses;
        let mut pause = min_pause;
        loop {
            let started_at = Instant::now();
            let error = match self.follow_channel(&mut messages, feeds, &mut closed).await {
                ChannelEnd::Stopped => return,
                ChannelEnd::Lost(error) => error,
            };
            // A channel that is lost again soon keeps the longer pause.
            if started_at.elapsed() > max_pause {
                pause = min_pause;
            }
            self.set_live(false);
            tracing::warn!(%error, repo = %self.repo, "live events are interrupted");
            messages = loop {
                tokio::select! {
                    () = tokio::time::sleep(pause) => {}
                    () = wait_until_closed(&mut closed) => return,
                }
                pause = (pause * 2).min(max_pause);
                if self.remove_if_unwatched(feeds) {
                    return;
                }
                match self.resume().await {
                    Ok(messages) => break messages,
                    Err(error) => tracing::debug!(%error, repo = %self.repo, "live events are still interrupted"),
                }
            };
            self.set_live(true);
        }
    }

    /// Subscribes again, and fills the gap.
    async fn resume(&self) -> Result<BoxStream<'static, Bytes>, StoreError> {
        let messages = self.store.subscribe(&keys::events(&self.repo)).await?;
        self.catch_up().await?;
        Ok(messages)
    }

    async fn follow_channel(
        &self,
        messages: &mut BoxStream<'static, Bytes>,
        feeds: &Feeds,
        closed: &mut watch::Receiver<bool>,
    ) -> ChannelEnd {
        let lost = |why: &str| ChannelEnd::Lost(StoreError::Unreachable(why.to_owned()));
        let mut checks = tokio::time::interval_at(Instant::now() + self.timing.check_every, self.timing.check_every);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut unwatched_since: Option<Instant> = None;
        // The newest event that a check found before the channel had delivered it.
        let mut overdue: Option<EventId> = None;
        loop {
            tokio::select! {
                message = messages.next() => match message {
                    None => return lost("the subscription has ended"),
                    Some(message) => {
                        let id = self.receive(&message);
                        overdue = overdue.filter(|overdue| id.is_none_or(|id| id < *overdue));
                    }
                },
                _ = checks.tick() => {
                    if self.is_watched() {
                        unwatched_since = None;
                    } else if unwatched_since.get_or_insert_with(Instant::now).elapsed() >= self.timing.kept
                        && self.remove_if_unwatched(feeds)
                    {
                        return ChannelEnd::Stopped;
                    }
                    if overdue.is_some() {
                        return lost("the subscription delivers nothing");
                    }
                    match self.catch_up().await {
                        Ok(newest) => overdue = newest,
                        Err(error) => return ChannelEnd::Lost(error),
                    }
                }
                () = wait_until_closed(closed) => return ChannelEnd::Stopped,
            }
        }
    }

    /// Sends the events of the log that the channel has not delivered. Returns the newest of them.
    async fn catch_up(&self) -> Result<Option<EventId>, StoreError> {
        let mut newest = None;
        loop {
            let position = lock(&self.state).recent.position();
            let later = events_after(&self.repo, position, PAGE).run(&*self.store).await?;
            if position != EventId::START && later.oldest.is_some_and(|oldest| oldest > position) {
                self.skip_to_end().await?;
                return Ok(None);
            }
            let is_last_page = later.events.len() < PAGE;
            for logged in later.events {
                let id = logged.id;
                newest = Some(id);
                match EncodedEvent::from_log(logged) {
                    Some(event) => self.send(event),
                    None => lock(&self.state).recent.skip_to(id),
                }
            }
            if is_last_page {
                return Ok(newest);
            }
        }
    }

    /// Starts over at the end of the log, and notifies the watchers.
    async fn skip_to_end(&self) -> Result<(), StoreError> {
        let end = self.newest_id().await?;
        let mut state = lock(&self.state);
        state.recent = RecentEvents::after(end);
        // An error means that there are no watchers.
        let _ = self.notifications.send(FeedMessage::Gap(end));
        Ok(())
    }

    /// Sends the event in a message of the channel, and returns its id.
    fn receive(&self, message: &[u8]) -> Option<EventId> {
        let Some(event) = EncodedEvent::from_message(message) else {
            let id = EncodedEvent::message_id(message)?;
            lock(&self.state).recent.skip_to(id);
            return Some(id);
        };
        let id = event.id;
        self.send(event);
        id
    }

    /// Sends `event`, unless it was sent before.
    fn send(&self, event: EncodedEvent) {
        let mut state = lock(&self.state);
        let event = Arc::new(event);
        if let Some(id) = event.id {
            if id <= state.recent.position() {
                return;
            }
            state.recent.push(id, Arc::clone(&event));
        }
        // Under the lock, so that a watcher that joins gets each event either from the recent ones or from here.
        let _ = self.notifications.send(FeedMessage::Event(event));
    }

    fn set_live(&self, is_live: bool) {
        let mut state = lock(&self.state);
        state.is_live = is_live;
        let _ = self.notifications.send(FeedMessage::Live(is_live));
    }

    /// Removes the feed from `feeds` if it has no watchers. Returns whether it did.
    fn remove_if_unwatched(&self, feeds: &Feeds) -> bool {
        // Watchers join under this lock.
        let mut feeds = lock(feeds);
        let is_unwatched = !self.is_watched();
        if is_unwatched {
            feeds.remove(&self.repo);
        }
        is_unwatched
    }
}

async fn newest_id(store: &dyn Store, repo: &RepoId) -> Result<EventId, StoreError> {
    let newest = newest_events(repo, 1).run(store).await?;
    Ok(newest.first().map_or(EventId::START, |event| event.id))
}

/// Completes when the hub is closed.
pub(super) async fn wait_until_closed(closed: &mut watch::Receiver<bool>) {
    // An error means that the hub was dropped.
    let _ = closed.wait_for(|closed| *closed).await;
}

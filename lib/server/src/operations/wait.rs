//! Waits for events of a repository. A process has one subscription for each repository.

use std::time::Duration;

use coord_protocol::Event;
use coord_protocol::bounds::WAIT_SECONDS;
use futures::future::OptionFuture;
use tokio::time::{Instant, sleep_until};

use super::fields::seconds;
use crate::app::App;
use crate::error::ApiError;
use coord_domain::{RepoId, UserId};
use coord_events::{EventHub, EventWatch, Permit, WatchItem, Watcher};

/// The seconds that a request with `value` in `field` waits: at most as many as this server allows.
pub fn wait_seconds(app: &App, field: &'static str, value: Option<u32>) -> Result<u32, ApiError> {
    let wait = seconds(field, value, 0..=WAIT_SECONDS, 0)?;
    Ok(wait.min(app.locks.poll_max_seconds))
}

/// Shortest time between the first two reads of a waiting request: others' events do not make it read more often.
const PAUSE: Duration = Duration::from_millis(250);

/// Each pause is twice as long as the one before, up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How soon a request reads again after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// After the pause.
    Soon,
    /// At once: the event is about this request alone.
    Now,
}

/// A request that may wait.
pub struct LongPoll {
    watch: Option<(EventWatch, Permit)>,
    ends_by: Instant,
    /// The earliest time of the next read. The first event leads to a read at once.
    not_before: Instant,
    pause: Duration,
}

impl LongPoll {
    /// Subscribes before the first read, so that no event is lost in between.
    ///
    /// # Errors
    /// When there are too many streams, or the store does not respond.
    pub async fn begin(events: &EventHub, repo: &RepoId, person: &UserId, wait: u32) -> Result<Self, ApiError> {
        let ends_by = Instant::now() + Duration::from_secs(u64::from(wait));
        let watch = match wait {
            0 => None,
            _ => {
                let permit = events.permit(Watcher::Person(person.clone()))?;
                Some((events.watch(repo, None).await?, permit))
            }
        };
        Ok(LongPoll {
            watch,
            ends_by,
            not_before: Instant::now(),
            pause: PAUSE,
        })
    }

    /// The seconds that the request may still wait.
    pub fn left_seconds(&self) -> u32 {
        let left = self.ends_by.saturating_duration_since(Instant::now());
        u32::try_from(left.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)
    }

    /// Waits for an event with an urgency, but no longer than `or_after`. Returns false once the request may wait no
    /// longer, or the server stops. An event shortly before the end leads to a last read at the end.
    pub async fn wait_for_event(
        &mut self,
        urgency: impl Fn(&Event) -> Option<Urgency>,
        or_after: Option<Duration>,
    ) -> bool {
        let Some((watch, _)) = &mut self.watch else {
            return false;
        };
        let not_before = self.not_before;
        let mut next_read = or_after.map(|time| (Instant::now() + time).max(not_before));
        let mut is_read_due = false;
        loop {
            let timer: OptionFuture<_> = next_read.map(sleep_until).into();
            tokio::select! {
                biased;
                () = sleep_until(self.ends_by) => {
                    if is_read_due {
                        break;
                    }
                    return false;
                }
                Some(()) = timer => break,
                item = watch.next() => {
                    let urgency = match item {
                        Ok(WatchItem::Event(event)) => urgency(&event.event),
                        Ok(WatchItem::Live(_)) => None,
                        Ok(WatchItem::Gap) => Some(Urgency::Soon),
                        Ok(WatchItem::Slow | WatchItem::Stopped) | Err(_) => return false,
                    };
                    match urgency {
                        Some(Urgency::Now) => break,
                        Some(Urgency::Soon) => {
                            let soon = not_before.max(Instant::now());
                            next_read = Some(next_read.map_or(soon, |next_read| next_read.min(soon)));
                            is_read_due = true;
                        }
                        None => {}
                    }
                }
            }
        }
        self.not_before = Instant::now() + self.pause;
        self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_events::fake::Fake;

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_by_its_time_however_much_happens() {
        let store = Fake::new();
        let events = EventHub::new(store.clone());
        let repo = RepoId::parse("https://github.com/acme/shop").unwrap();
        let person = UserId::parse("ada").unwrap();
        let begun = Instant::now();
        let mut waiting = LongPoll::begin(&events, &repo, &person, 8).await.unwrap();
        tokio::spawn(async move {
            for number in 1.. {
                store.emit(number);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        let mut reads = Vec::new();
        while waiting.wait_for_event(|_| Some(Urgency::Soon), None).await {
            reads.push(begun.elapsed().as_millis());
        }
        assert_eq!(begun.elapsed(), Duration::from_secs(8));
        let [.., before, last] = &reads[..] else {
            panic!("{reads:?}")
        };
        assert_eq!(*last, 8000, "what came after {before} ms is read once more");
        assert!(reads.len() < 10, "{reads:?}");
    }
}

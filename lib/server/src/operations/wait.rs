//! Waits until something happens, on the events of the repository: one subscription for each repository in a process.

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

/// The seconds that a request with `sent` in `field` waits: no more than this server lets it.
pub fn wait_seconds(app: &App, field: &'static str, sent: Option<u32>) -> Result<u32, ApiError> {
    let wait = seconds(field, sent, 0..=WAIT_SECONDS, 0)?;
    Ok(wait.min(app.locks.poll_max_seconds))
}

/// Shortest time between the first two reads of a request that waits: others' events do not make it ask more often.
const PAUSE: Duration = Duration::from_millis(250);

/// Each pause is twice as long as the one before, up to this.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How soon an event is read after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// After the pause.
    Soon,
    /// At once: it is about this request alone.
    Now,
}

/// A request that waits, or does not.
pub struct LongPoll {
    watching: Option<(EventWatch, Permit)>,
    ends_by: Instant,
    /// When it may read again; the first event is answered at once.
    not_before: Instant,
    pause: Duration,
}

impl LongPoll {
    /// Subscribes before the first read, so that nothing is lost between.
    ///
    /// # Errors
    /// When there are too many streams, or the store does not respond.
    pub async fn begin(events: &EventHub, repo: &RepoId, person: &UserId, wait: u32) -> Result<Self, ApiError> {
        let ends_by = Instant::now() + Duration::from_secs(u64::from(wait));
        let watching = match wait {
            0 => None,
            _ => {
                let permit = events.permit(Watcher::Person(person.clone()))?;
                Some((events.watch(repo, None).await?, permit))
            }
        };
        Ok(LongPoll {
            watching,
            ends_by,
            not_before: Instant::now(),
            pause: PAUSE,
        })
    }

    /// The seconds that are left of the time of the request.
    pub fn left_seconds(&self) -> u32 {
        let left = self.ends_by.saturating_duration_since(Instant::now());
        u32::try_from(left.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)
    }

    /// Waits for an event that matters, at most for the time `or_after`. False once the time of the request is over, or the server
    /// stops: however much happens, the last read is at the end of that time.
    pub async fn until(&mut self, matters: impl Fn(&Event) -> Option<Urgency>, or_after: Option<Duration>) -> bool {
        let Some((watching, _)) = &mut self.watching else {
            return false;
        };
        let not_before = self.not_before;
        let mut again = or_after.map(|time| (Instant::now() + time).max(not_before));
        let mut is_last = false;
        loop {
            let timer: OptionFuture<_> = again.map(sleep_until).into();
            tokio::select! {
                biased;
                () = sleep_until(self.ends_by) => {
                    if is_last {
                        break;
                    }
                    return false;
                }
                Some(()) = timer => break,
                next = watching.next() => match next.map(|next| match next {
                    WatchItem::Event(event) => Ok(matters(&event.event)),
                    WatchItem::Live(_) => Ok(None),
                    WatchItem::Gap => Ok(Some(Urgency::Soon)),
                    WatchItem::Slow | WatchItem::Stopped => Err(()),
                }) {
                    Ok(Ok(Some(Urgency::Now))) => break,
                    Ok(Ok(Some(Urgency::Soon))) => {
                        let soon = not_before.max(Instant::now());
                        again = Some(again.map_or(soon, |again| again.min(soon)));
                        is_last = true;
                    }
                    Ok(Ok(None)) => {}
                    Ok(Err(())) | Err(_) => return false,
                },
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
        while waiting.until(|_| Some(Urgency::Soon), None).await {
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

//! Which events were published, in which order, and what each client lacks or has twice.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use crate::report::Latencies;

/// The id of an event: the milliseconds of the store's clock at which it was written, and a number among those.
pub type Id = (u64, u64);

/// Reads `MILLISECONDS-NUMBER`.
pub fn parse(text: &str) -> Result<Id> {
    let id = text.split_once('-');
    let id = id.and_then(|(milliseconds, number)| Some((milliseconds.parse().ok()?, number.parse().ok()?)));
    id.with_context(|| format!("{text:?} is not an id of an event"))
}

/// The time of this machine since 1970.
pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The events that clients have received, each compared with what the first client received at the same place.
#[derive(Default)]
pub struct Ledger(Mutex<Received>);

/// Everything received so far.
#[derive(Default)]
pub struct Received {
    pub ids: Vec<Id>,
    /// Since the last time that they were taken: number of those, and the rest.
    pub events: u64,
    pub deliveries: u64,
    pub lost: u64,
    pub repeated: u64,
    pub latencies: Latencies,
}

impl Ledger {
    /// A client that has `place` events receives the next. Returns how many it has then.
    pub fn receive(&self, place: usize, id: Id, latency: Option<Duration>) -> usize {
        let mut received = self.lock();
        received.deliveries += 1;
        if let Some(latency) = latency {
            received.latencies.add(latency);
        }
        match received.ids.get(place) {
            Some(expected) if *expected == id => place + 1,
            None if received.ids.last().is_none_or(|last| *last < id) => {
                received.ids.push(id);
                received.events += 1;
                place + 1
            }
            _ => match received.ids.binary_search(&id) {
                Ok(found) if found > place => {
                    received.lost += (found - place) as u64;
                    found + 1
                }
                Ok(_) => {
                    received.repeated += 1;
                    place
                }
                // The client that was here first lacks it.
                Err(_) => {
                    received.lost += 1;
                    place
                }
            },
        }
    }

    /// Compares the received events with those of the log, which is sorted and may begin later.
    pub fn compare(&self, log: &[Id]) {
        let mut received = self.lock();
        let first = log.first().copied().unwrap_or((u64::MAX, 0));
        let lost = log.iter().filter(|id| received.ids.binary_search(id).is_err()).count();
        let late = received.ids.iter().filter(|id| **id >= first);
        let invented = late.filter(|id| log.binary_search(id).is_err()).count();
        received.lost += lost as u64;
        received.repeated += invented as u64;
    }

    /// Number of events.
    pub fn events(&self) -> usize {
        self.lock().ids.len()
    }

    /// Returns everything received since the last call.
    pub fn take(&self) -> Received {
        let mut received = self.lock();
        let ids = std::mem::take(&mut received.ids);
        let taken = std::mem::take(&mut *received);
        received.ids = ids;
        taken
    }

    fn lock(&self) -> MutexGuard<'_, Received> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

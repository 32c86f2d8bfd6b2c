//! The calls of one request to the store and to sources, and their time: `TimedStore` and `Sources` count them,
//! [`measure`] collects the figures.
//!
//! The figures belong to the task of the request. Calls from another task, which may serve several requests or none,
//! are not counted.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

tokio::task_local! {
    static CURRENT: Arc<Timings>;
}

/// Calls of one request, and their time. Concurrent calls each count in full, so the sum may exceed the elapsed time.
#[derive(Debug, Default)]
pub struct Timings {
    store: Tally,
    source: Tally,
    /// Round trips to a remote store.
    round_trips: AtomicU64,
}

#[derive(Debug, Default)]
struct Tally {
    calls: AtomicU64,
    nanoseconds: AtomicU64,
}

/// Calls and their total time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallTotals {
    /// Number of calls.
    pub calls: u64,
    pub time: Duration,
}

impl Timings {
    /// Records an ended call of the store.
    pub fn record_store_call(&self, time: Duration) {
        self.store.add(time);
    }

    /// Records an ended call of the source.
    pub fn record_source_call(&self, time: Duration) {
        self.source.add(time);
    }

    /// Calls and time of the store. A call with a second round trip (script unknown to the store, retry) counts twice.
    pub fn spent_on_store(&self) -> CallTotals {
        let totals = self.store.totals();
        CallTotals {
            calls: totals.calls.max(self.round_trips.load(Ordering::Relaxed)),
            ..totals
        }
    }

    /// Calls and time of the source, including calls answered from memory.
    pub fn spent_on_source(&self) -> CallTotals {
        self.source.totals()
    }

    /// The value of the header `Server-Timing`; `total` is the time of the request.
    pub fn header(&self, total: Duration) -> String {
        let (store, source) = (self.spent_on_store(), self.spent_on_source());
        let plural = if store.calls == 1 { "" } else { "s" };
        // Milliseconds from integers: formatting floats takes several times as long.
        let [store_time, source_time, total] = [store.time, source.time, total].map(|time| time.as_micros());
        format!(
            "store;dur={}.{:03};desc=\"{} round trip{plural}\", source;dur={}.{:03}, total;dur={}.{:03}",
            store_time / 1000,
            store_time % 1000,
            store.calls,
            source_time / 1000,
            source_time % 1000,
            total / 1000,
            total % 1000
        )
    }
}

impl Tally {
    fn add(&self, time: Duration) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    fn totals(&self) -> CallTotals {
        CallTotals {
            calls: self.calls.load(Ordering::Relaxed),
            time: Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)),
        }
    }
}

/// Runs `future`, and records its calls in `timings`.
pub async fn measure<T>(timings: Arc<Timings>, future: impl Future<Output = T>) -> T {
    CURRENT.scope(timings, future).await
}

/// Counts one round trip to a remote store.
pub fn count_round_trip() {
    // Outside of a request there are no timings.
    let _ = CURRENT.try_with(|timings| timings.round_trips.fetch_add(1, Ordering::Relaxed));
}

/// A call in progress. It is recorded when it ends, even when it is cancelled.
pub struct Call {
    started: Instant,
    record: fn(&Timings, Duration),
}

impl Call {
    pub fn to_store() -> Self {
        Call {
            started: Instant::now(),
            record: Timings::record_store_call,
        }
    }

    pub fn to_source() -> Self {
        Call {
            started: Instant::now(),
            record: Timings::record_source_call,
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // Outside of a request there are no timings.
        let _ = CURRENT.try_with(|timings| (self.record)(timings, self.started.elapsed()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn calls_count_for_the_request_in_whose_task_they_are_made() {
        let timings = Arc::new(Timings::default());
        measure(Arc::clone(&timings), async {
            drop(Call::to_store());
            drop(Call::to_source());
            drop(Call::to_source());
            let elsewhere = tokio::spawn(async { drop(Call::to_store()) });
            elsewhere.await.unwrap();
        })
        .await;
        drop(Call::to_store());
        assert_eq!(timings.spent_on_store().calls, 1);
        assert_eq!(timings.spent_on_source().calls, 2);
    }

    #[tokio::test]
    async fn a_call_that_is_given_up_counts() {
        let timings = Arc::new(Timings::default());
        let slow = async {
            let _call = Call::to_store();
            std::future::pending::<()>().await;
        };
        let given_up = measure(
            Arc::clone(&timings),
            tokio::time::timeout(Duration::from_millis(20), slow),
        );
        assert!(given_up.await.is_err());
        assert_eq!(timings.spent_on_store().calls, 1);
        assert!(timings.spent_on_store().time >= Duration::from_millis(20));
    }

    #[test]
    fn the_timing_header_counts_store_round_trips_and_source_time() {
        let timings = Timings::default();
        assert_eq!(
            timings.header(Duration::from_micros(1500)),
            "store;dur=0.000;desc=\"0 round trips\", source;dur=0.000, total;dur=1.500"
        );
        timings.record_store_call(Duration::from_micros(1250));
        timings.record_source_call(Duration::from_millis(2));
        assert_eq!(
            timings.header(Duration::from_millis(5)),
            "store;dur=1.250;desc=\"1 round trip\", source;dur=2.000, total;dur=5.000"
        );
    }

    #[tokio::test]
    async fn a_call_that_was_sent_twice_is_two_round_trips() {
        let timings = Arc::new(Timings::default());
        measure(Arc::clone(&timings), async {
            let _call = Call::to_store();
            count_round_trip();
            count_round_trip();
        })
        .await;
        assert_eq!(timings.spent_on_store().calls, 2);
    }
}

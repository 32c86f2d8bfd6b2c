//! Time limits and retries of a connection to a store.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Limits of a connection. [`Limits::default`] suits a function with a time limit of ten seconds.
#[derive(Clone, Debug)]
pub struct Limits {
    /// For a new connection: name resolution, TCP, TLS and login together.
    pub connect: Duration,
    /// For one round trip, including a new connection.
    pub request: Duration,
    /// For one call of [`Store::run`](super::Store::run): all its round trips, retries and pauses.
    pub call: Duration,
    /// The pause before each retry, plus or minus up to half. Its length is the number of retries, which only a batch of
    /// repeatable requests gets.
    pub pauses: Vec<Duration>,
    /// Maximum size of a response in bytes. For Upstash only: the Redis protocol announces no total.
    pub response_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            connect: Duration::from_secs(2),
            request: Duration::from_secs(5),
            call: Duration::from_secs(8),
            pauses: vec![Duration::from_millis(50), Duration::from_millis(200)],
            response_bytes: 16 << 20,
        }
    }
}

impl Limits {
    /// The pause before the retry number `again` (from 0); `None` after the last retry.
    pub(super) fn pause(&self, again: usize) -> Option<Duration> {
        let pause = self.pauses.get(again)?;
        // Between half and one and a half times, so that callers do not all retry at one instant. A fresh `RandomState` is
        // the standard library's source of random bits.
        let spread = RandomState::new().hash_one(again) % 1024;
        Some(pause.mul_f64(0.5 + spread as f64 / 1024.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_within_half_of_its_setting_and_ends_with_the_list() {
        let limits = Limits::default();
        for _ in 0..100 {
            let first = limits.pause(0).expect("a first pause");
            assert!((25..75).contains(&first.as_millis()), "{first:?}");
            let second = limits.pause(1).expect("a second pause");
            assert!((100..300).contains(&second.as_millis()), "{second:?}");
        }
        assert_eq!(limits.pause(2), None);
    }
}

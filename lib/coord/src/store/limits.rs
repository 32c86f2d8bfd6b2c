//! How long a connection to a store may take, and how often it may try again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Bounds of a connection. [`Limits::default`] suits a function that has ten seconds to answer in.
#[derive(Clone, Debug)]
pub struct Limits {
    /// For a new connection: name, TCP, TLS and login together.
    pub connect: Duration,
    /// For one round trip, the connection included.
    pub request: Duration,
    /// For one call of [`Store::run`](super::Store::run): every round trip, repeat and pause in it.
    pub call: Duration,
    /// The pause before each further try, give or take half of it. Its length is the number of further tries, which only
    /// a batch of repeatable requests gets.
    pub pauses: Vec<Duration>,
    /// The longest answer that is read, in bytes. Upstash alone: the Redis protocol gives no total to hold against it.
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
    /// The pause before the further try number `again` (from 0); none when there shall be no such try.
    pub(super) fn pause(&self, again: usize) -> Option<Duration> {
        let pause = self.pauses.get(again)?;
        // Spread between half and one and a half times the pause, so that many callers do not come back at one instant.
        // A fresh `RandomState` is the standard library's own source of random bits.
        let spread = RandomState::new().hash_one(again) % 1024;
        Some(pause.mul_f64(0.5 + spread as f64 / 1024.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_stays_within_half_of_what_is_asked_and_ends_with_the_list() {
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

//! Time limits and retries of a connection to a store.

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
    /// The pause before each retry, plus or minus up to half. There are as many retries as pauses, for batches of
    /// repeatable requests alone.
    pub pauses: Vec<Duration>,
    /// Maximum size of a response in bytes. For Upstash only: the Redis protocol does not announce the total size.
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

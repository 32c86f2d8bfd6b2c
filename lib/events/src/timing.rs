//! Intervals of feeds and streams.

use std::time::Duration;

/// Intervals of feeds and streams.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Interval at which the log is compared with the messages of the channel.
    pub check_every: Duration,
    /// Time for which a feed without watchers is kept.
    pub kept: Duration,
    /// The first pause after the store was lost, and the longest.
    pub pauses: (Duration, Duration),
    /// Longest time without a message to a client.
    pub heartbeat: Duration,
    /// Interval at which the right of a stream's caller is verified again.
    pub verify_every: Duration,
    /// The same after it could not be verified.
    pub verify_again: Duration,
    /// Longest time without a verdict.
    pub unverified: Duration,
    /// Time for the credential to arrive on a WebSocket.
    pub authentication: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            check_every: Duration::from_secs(15),
            kept: Duration::from_secs(30),
            pauses: (Duration::from_millis(250), Duration::from_secs(10)),
            heartbeat: Duration::from_secs(15),
            verify_every: Duration::from_secs(60),
            verify_again: Duration::from_secs(20),
            unverified: Duration::from_secs(270),
            authentication: Duration::from_secs(10),
        }
    }
}

//! Repeats a change that Rust decides and a script makes, until the registry has not changed in between.

use std::time::{Duration, Instant};

use coord_server::error::ApiError;

/// After this time, no new round begins.
const LIMIT: Duration = Duration::from_secs(10);

/// The longest pause before the second round, in microseconds. It doubles with each round.
const FIRST_PAUSE: u64 = 4_000;

/// The longest pause before any round, in microseconds.
const LONGEST_PAUSE: u64 = 512_000;

/// The rounds of one change.
pub(super) struct Rounds {
    began: Instant,
    longest_pause: u64,
}

impl Rounds {
    pub(super) fn begin() -> Self {
        Rounds {
            began: Instant::now(),
            longest_pause: FIRST_PAUSE,
        }
    }

    /// Waits before the next round, for a random time, so that racing callers do not collide again and again.
    ///
    /// # Errors
    /// When the time is over.
    pub(super) async fn wait(&mut self) -> Result<(), ApiError> {
        if self.began.elapsed() > LIMIT {
            let message = "the intents of the repository keep changing; try again soon";
            return Err(ApiError::StoreUnavailable(message.to_owned()));
        }
        // The second half of a UUID is random.
        let (_, random) = uuid::Uuid::now_v7().as_u64_pair();
        tokio::time::sleep(Duration::from_micros(random % self.longest_pause)).await;
        self.longest_pause = (2 * self.longest_pause).min(LONGEST_PAUSE);
        Ok(())
    }
}

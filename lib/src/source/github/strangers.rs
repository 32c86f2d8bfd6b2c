//! Callers that nobody vouches for: how many of their credentials GitHub is asked about. Each costs questions, and many bad
//! ones have GitHub refuse good ones from the same address as well.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many in [`WINDOW`], in all repositories together; past that, only those who are remembered are let in, until it ends.
const MOST: u32 = 200;
const WINDOW: Duration = Duration::from_secs(60);

/// Counts strangers, in windows of a minute.
#[derive(Debug, Default)]
pub(super) struct Strangers(Mutex<Option<(Instant, u32)>>);

impl Strangers {
    /// # Errors
    /// When there were too many, with the seconds until the next is asked about.
    pub(super) fn admit(&self) -> Result<(), u64> {
        let window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *window {
            Some((began, count)) if count >= MOST && began.elapsed() < WINDOW => {
                Err((WINDOW - began.elapsed()).as_secs().max(1))
            }
            _ => Ok(()),
        }
    }

    /// One more was asked about.
    pub(super) fn count(&self) {
        let mut window = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        *window = match *window {
            Some((began, count)) if began.elapsed() < WINDOW => Some((began, count + 1)),
            _ => Some((now, 1)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn past_the_most_nobody_is_asked_about_until_the_window_ends() {
        let strangers = Strangers::default();
        for _ in 0..MOST {
            assert_eq!(strangers.admit(), Ok(()));
            strangers.count();
        }
        let seconds = strangers.admit().unwrap_err();
        assert!((1..=60).contains(&seconds), "{seconds}");
        if let Some((began, _)) = strangers.0.lock().unwrap().as_mut() {
            *began -= WINDOW;
        }
        assert_eq!(strangers.admit(), Ok(()));
        strangers.count();
        assert_eq!(strangers.admit(), Ok(()));
    }
}

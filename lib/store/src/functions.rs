//! The library of functions on a store: whether it can be used.
//!
//! A store that has no functions, or denies them, runs the same scripts by EVALSHA.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{StoreError, Value};

/// One command as sent, name first.
pub(super) type Words<'r> = Vec<Cow<'r, [u8]>>;

/// Exists while a library is in use: set by each process that calls it, at most once a day.
pub(super) fn use_key(library: &str) -> String {
    format!("coord:library:{library}")
}

/// Loads in a row that fail for reasons that are not known before a process stops to try.
const MOST_FAILURES: u32 = 3;

/// How often a process notes that its library is in use, and how long the note stays: a week longer than a day.
const NOTED_EVERY: Duration = Duration::from_secs(24 * 3600);
const UNUSED_AFTER: &str = "691200";

/// The functions of a store, as this process knows them.
#[derive(Debug, Default)]
pub(super) struct Functions {
    is_denied: AtomicBool,
    failures: AtomicU32,
    noted_at: Mutex<Option<Instant>>,
}

impl Functions {
    /// Whether scripts are called as functions.
    pub fn are_used(&self) -> bool {
        !self.is_denied.load(Ordering::Relaxed)
    }

    /// Notes the outcome of a load, and returns whether the library is there.
    pub fn note_load(&self, loaded: &Result<Vec<Value>, StoreError>) -> bool {
        // A store that is full, a replica, busy or out of reach may be well a moment later.
        let (error, is_lasting) = match loaded {
            Ok(replies) => match replies.first() {
                Some(Value::Error(error)) if !error.contains("already exists") => {
                    (error.clone(), error.starts_with("ERR "))
                }
                _ => {
                    self.failures.store(0, Ordering::Relaxed);
                    return true;
                }
            },
            Err(StoreError::Unreachable(_) | StoreError::Timeout(_)) => return false,
            Err(error) => (error.to_string(), true),
        };
        if lacks_functions(&error) || is_lasting && self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_FAILURES {
            self.deny(&error);
        }
        false
    }

    /// Notes that the store has no functions.
    pub fn deny(&self, error: &str) {
        if !self.is_denied.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                error,
                "the store has no functions, or denies them: scripts run by EVALSHA, which is slower (Redis 7 or Valkey with FCALL and FUNCTION allowed is faster)"
            );
        }
    }

    /// The command by which the library with this name is noted to be in use, once a day.
    pub fn due_usage_command(&self, name: impl FnOnce() -> String) -> Option<Words<'static>> {
        let mut noted_at = self.noted_at.lock().unwrap_or_else(PoisonError::into_inner);
        if noted_at.is_some_and(|at| at.elapsed() < NOTED_EVERY) {
            return None;
        }
        *noted_at = Some(Instant::now());
        Some(words(["SET", &use_key(&name()), "", "EX", UNUSED_AFTER]))
    }
}

/// Whether this error says that the library of a function is not loaded.
pub(super) fn is_missing(error: &str) -> bool {
    error.contains("Function not found") && !error.contains(" script: ")
}

/// Whether this error says that there are no functions, or that this user may not use them.
pub(super) fn lacks_functions(error: &str) -> bool {
    let error = error.to_ascii_lowercase();
    // An error that a function itself raises ends with its place.
    if error.contains(" script: ") {
        return false;
    }
    let names_it = error.contains("fcall") || error.contains("function");
    let is_denied = [
        "noperm",
        "unknown command",
        "unknown subcommand",
        "not available",
        "not supported",
        "not allowed",
    ];
    names_it && is_denied.iter().any(|denied| error.contains(denied))
}

/// Whether a function was not begun, because it might write where nothing can be written: as a script it may read.
pub(super) fn was_not_begun(error: &str) -> bool {
    let codes = ["OOM ", "READONLY ", "MISCONF ", "NOREPLICAS ", "MASTERDOWN "];
    !error.contains(" script: ") && codes.iter().any(|code| error.starts_with(code))
}

pub(super) fn words<const N: usize>(words: [&str; N]) -> Words<'static> {
    words.map(|word| word.as_bytes().to_vec().into()).into()
}

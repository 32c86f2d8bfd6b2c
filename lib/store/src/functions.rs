//! Whether a store can run the library of functions.
//!
//! A store without functions, or one that denies them, runs the same scripts by EVALSHA.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::{StoreError, Value};
use coord_runtime::mutex::lock;

/// One command as sent, name first.
pub(super) type Words<'r> = Vec<Cow<'r, [u8]>>;

/// The key that exists while a library is in use. Each process that calls the library sets it, at most once a day.
pub(super) fn use_key(library: &str) -> String {
    format!("coord:library:{library}")
}

/// Number of failed loads in a row, for no known reason, after which a process no longer tries.
const MAX_FAILURES: u32 = 3;

/// How often a process notes that its library is in use.
const NOTED_EVERY: Duration = Duration::from_secs(24 * 3600);
/// Seconds after which the note expires: eight days, so that an unused library keeps it for a week.
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

    /// Notes the outcome of a load, and returns whether the store has the library.
    pub fn note_load(&self, outcome: &Result<Vec<Value>, StoreError>) -> bool {
        // A store that is full, a replica, busy or unreachable may accept the library a moment later.
        let (error, is_lasting) = match outcome {
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
        if lacks_functions(&error) || is_lasting && self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_FAILURES {
            self.deny(&error);
        }
        false
    }

    /// Notes that the store does not run functions.
    pub fn deny(&self, error: &str) {
        if !self.is_denied.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                error,
                "the store has no functions, or denies them: scripts run by EVALSHA, which is slower (Redis 7 or \
                 Valkey with FCALL and FUNCTION allowed is faster)"
            );
        }
    }

    /// The command that notes that the library with this name is in use; `None` if it was noted today.
    pub fn due_usage_command(&self, name: impl FnOnce() -> String) -> Option<Words<'static>> {
        let mut noted_at = lock(&self.noted_at);
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
    // An error that a function itself raises ends with its position.
    if error.contains(" script: ") {
        return false;
    }
    let is_about_functions = error.contains("fcall") || error.contains("function");
    let denials = [
        "noperm",
        "unknown command",
        "unknown subcommand",
        "not available",
        "not supported",
        "not allowed",
    ];
    is_about_functions && denials.iter().any(|denial| error.contains(denial))
}

/// Whether the store did not start a function because it might write, and nothing can be written now. As a script, it
/// may still read.
pub(super) fn was_refused_as_write(error: &str) -> bool {
    let codes = ["OOM ", "READONLY ", "MISCONF ", "NOREPLICAS ", "MASTERDOWN "];
    !error.contains(" script: ") && codes.iter().any(|code| error.starts_with(code))
}

pub(super) fn words<const N: usize>(words: [&str; N]) -> Words<'static> {
    words.map(|word| word.as_bytes().to_vec().into()).into()
}

//! Limits of the running script, and the reads that it lets pass.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::deferred_reads::DeferredReads;
use crate::queue::SLICE;

/// Longest time of a script, which Redis by default only warns about.
pub(super) const TIME: Duration = Duration::from_secs(5);

/// The name of a library in error messages.
pub(super) const CHUNK: &str = "@user_function";

/// Limits of the running script, and errors below it.
pub(super) struct Guard {
    pub(super) deadline: Instant,
    /// When reads that wait are answered next.
    gives_way_at: Instant,
    pub(super) aside: Option<Rc<DeferredReads>>,
    /// Whether the hook fails at every instruction, and must be set anew for the next script.
    pub(super) is_tripped: bool,
    pub(super) storage_failure: Option<String>,
}

impl Guard {
    pub(super) fn new(aside: Option<Rc<DeferredReads>>) -> Self {
        let now = Instant::now();
        Guard {
            deadline: now + TIME,
            gives_way_at: now + SLICE,
            aside,
            is_tripped: false,
            storage_failure: None,
        }
    }

    /// Answers reads that wait, where the script has run for a while. They take half of the time at most, and none of the
    /// script's own.
    pub(super) fn yield_to_reads(guard: &RefCell<Guard>) {
        let (aside, began) = {
            let guard = guard.borrow();
            let Some(aside) = guard.aside.as_ref().filter(|aside| aside.is_wanted()) else {
                return;
            };
            let now = Instant::now();
            if now < guard.gives_way_at {
                return;
            }
            (Rc::clone(aside), now)
        };
        aside.answer();
        let now = Instant::now();
        let mut guard = guard.borrow_mut();
        guard.deadline += now - began;
        guard.gives_way_at = now + SLICE.max(now - began);
    }
}

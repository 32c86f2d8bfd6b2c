//! Limits of the running script, and the reads that it yields to.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::deferred_reads::DeferredReads;
use crate::queue::SLICE;

/// Time limit of a script. By default, Redis only warns about long scripts.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(5);

/// The name of a library in error messages.
pub(super) const CHUNK_NAME: &str = "@user_function";

/// Limits of the running script, and the failure of the store under it.
pub(super) struct Guard {
    pub(super) deadline: Instant,
    /// When the script next yields to waiting reads.
    yields_at: Instant,
    pub(super) deferred_reads: Option<Rc<DeferredReads>>,
    /// Whether the hook fails at every instruction, and must be set anew for the next script.
    pub(super) is_tripped: bool,
    pub(super) storage_failure: Option<String>,
}

impl Guard {
    pub(super) fn new(deferred_reads: Option<Rc<DeferredReads>>) -> Self {
        let now = Instant::now();
        Guard {
            deadline: now + TIME_LIMIT,
            yields_at: now + SLICE,
            deferred_reads,
            is_tripped: false,
            storage_failure: None,
        }
    }

    /// Answers waiting reads if the script has run for a while. Reads take at most half of the time, and that time does
    /// not count against the script's limit.
    pub(super) fn yield_to_reads(guard: &RefCell<Guard>) {
        let (reads, started_at) = {
            let guard = guard.borrow();
            let Some(reads) = guard.deferred_reads.as_ref().filter(|reads| reads.is_any_waiting()) else {
                return;
            };
            let now = Instant::now();
            if now < guard.yields_at {
                return;
            }
            (Rc::clone(reads), now)
        };
        reads.answer_round();
        let now = Instant::now();
        let mut guard = guard.borrow_mut();
        guard.deadline += now - started_at;
        guard.yields_at = now + SLICE.max(now - started_at);
    }
}

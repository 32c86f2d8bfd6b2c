//! Threads: the number worth starting, and the locks between them.

use std::num::NonZero;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Queried once: each query makes the system read several files, and the number does not change.
static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

/// Number of threads that can run at once, as of the first call.
pub fn cores() -> usize {
    *CORES
}

/// Locks `mutex`, even if a thread has panicked with the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

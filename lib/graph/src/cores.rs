//! The number of threads worth starting.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread;

/// Queried once: each query makes the system read several files, and the number does not change.
static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

/// Number of threads that can run at once, as of the first call.
pub fn cores() -> usize {
    *CORES
}

//! How many threads are worth having.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread;

/// Asking the system means reading some files of it each time, and the answer stays the same.
static CORES: LazyLock<usize> = LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

/// How many threads can run at once, as it was when this was first asked.
pub fn cores() -> usize {
    *CORES
}

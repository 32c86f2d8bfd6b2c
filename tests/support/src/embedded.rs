//! Embedded stores. A store learns from the extensions of its process which keys are expendable, so they are registered first.

use std::path::Path;
use std::time::SystemTime;

use coord_embedded::EmbeddedStore;

/// The store in `file`, with the extensions of this build.
///
/// # Panics
/// When it cannot be opened.
pub fn open(file: &Path) -> EmbeddedStore {
    coord_extensions::register_state();
    EmbeddedStore::open(file).expect("the store opens")
}

/// A new store in memory, with the extensions of this build.
///
/// # Panics
/// When it cannot be made.
pub fn in_memory() -> EmbeddedStore {
    in_memory_by(SystemTime::now)
}

/// The same by another clock.
///
/// # Panics
/// When it cannot be made.
pub fn in_memory_by(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> EmbeddedStore {
    coord_extensions::register_state();
    EmbeddedStore::in_memory_by(clock).expect("a store in memory")
}

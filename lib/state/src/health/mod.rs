//! Whether the store responds, and can be written.

pub mod keys;
pub mod scripts;

mod probe;

pub use probe::*;

//! Heads of branches: the newest known commit, and the time of its last confirmation.

pub mod keys;
pub mod scripts;

mod head;

pub use head::*;

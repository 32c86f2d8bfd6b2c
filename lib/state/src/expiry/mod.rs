//! The due list: repositories in which something expires. They are marked before something is held, and leased to a sweep.

pub mod keys;
pub mod scripts;

mod due;
mod mark;

pub use due::*;
pub use mark::Mark;

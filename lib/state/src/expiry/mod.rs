//! The due list: repositories in which something expires. A claim marks its repository first; a sweep leases the due ones.

pub mod keys;
pub mod scripts;

mod due;
mod mark;

pub use due::*;
pub use mark::Mark;

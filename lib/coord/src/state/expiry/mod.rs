//! The list of repositories in which something expires: marked before something is held, taken and settled by a sweep.

pub mod keys;
pub mod scripts;

mod due;
mod mark;

pub use due::{TakenRepository, settle_due, take_due};
pub(in crate::state) use mark::Mark;

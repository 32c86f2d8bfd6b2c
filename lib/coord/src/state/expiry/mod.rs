//! The list of repositories in which something expires: marked before something is held, taken and settled by a sweep.

pub mod keys;
pub mod scripts;

mod due;

pub use due::{TakenRepository, settle_due, take_due};

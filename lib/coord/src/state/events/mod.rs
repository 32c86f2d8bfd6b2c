//! Events: the log from which a reader resumes, and the channel. Scripts write them: `includes/emit.lua`.

pub mod keys;

mod log;

pub use log::{LoggedEvent, newest_events};

//! Events: the log from which readers resume, and the channel. Scripts write them: `modules/emit.lua`.

pub mod keys;

mod log;

pub use log::*;

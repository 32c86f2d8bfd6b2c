//! The stored state of teams, by aggregate, in the shape of `lib/state/`: a folder each, with its keys, its Lua scripts, their modules,
//! and the typed calls that decode all outcomes.

pub mod departures;
pub mod mail;
pub mod messages;
pub mod tasks;
pub mod teams;

mod extension;

pub use extension::EXTENSION;

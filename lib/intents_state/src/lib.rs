//! The stored state of intents and their ledger, by aggregate, in the shape of `lib/state/`: a folder each, with its keys, its Lua
//! scripts, their modules, and the typed calls that decode all outcomes.

pub mod intents;
pub mod ledger;

mod extension;
mod run;

pub use extension::EXTENSION;

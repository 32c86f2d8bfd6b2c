//! The state by aggregate: a folder each, with its keys, its Lua scripts, their modules, and the typed calls that decode
//! all outcomes. Only this module knows the contents of keys.
//!
//! All folders have the same shape: `keys.rs`; `scripts.rs`, the list of the scripts; a file `NAME.lua` for each change;
//! `modules/`, tables of functions that they share: `require('AGGREGATE/NAME')` is `AGGREGATE/modules/NAME.lua`; and the typed calls.

#![cfg_attr(
    not(feature = "teams"),
    expect(dead_code, unused_imports, reason = "teams alone use it")
)]
#![cfg_attr(
    all(feature = "teams", not(feature = "intents")),
    expect(dead_code, reason = "intents alone use it")
)]

pub mod admission;
pub mod builds;
pub mod events;
pub mod expiry;
pub mod heads;
pub mod health;
pub mod libraries;
pub mod locks;
pub mod seams;
pub mod sweep;

#[cfg(feature = "intents")]
pub mod intents;
#[cfg(feature = "intents")]
pub mod ledger;

#[cfg(feature = "teams")]
pub mod departures;
#[cfg(feature = "teams")]
pub mod mail;
#[cfg(feature = "teams")]
pub mod messages;
#[cfg(feature = "teams")]
pub mod tasks;
#[cfg(feature = "teams")]
pub mod teams;

mod clock;
mod extension;
mod extensions;
mod keys;
mod named_keys;
mod read;
mod reply;
mod request_keys;
mod scripts;
#[cfg(test)]
mod tests;

pub use clock::store_time;
pub use read::Read;

use coord_store::Script;

/// All scripts of all aggregates.
pub fn scripts() -> impl Iterator<Item = &'static Script> {
    // The lists of all folders, from `build.rs`.
    let lists = include!(concat!(env!("OUT_DIR"), "/scripts.rs"));
    lists.into_iter().flatten().copied()
}

/// Whether calls need not wait until a change of `key` is on the disk: its value may be lost in a crash.
pub fn is_expendable(key: &[u8]) -> bool {
    let of_extensions = extensions::EXTENSIONS.iter().flat_map(|extension| extension.expendable);
    [admission::keys::LIMITS, events::keys::REFUSALS, locks::keys::QUEUE]
        .iter()
        .chain(of_extensions)
        .any(|prefix| key.starts_with(prefix.as_bytes()))
}

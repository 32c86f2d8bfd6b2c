//! The state by aggregate: a folder each, with its keys, its Lua scripts, their modules, and the typed calls that decode
//! all outcomes. Only this crate knows the contents of keys.
//!
//! All folders have the same shape: `keys.rs`; `scripts.rs`, the list of the scripts; a file `NAME.lua` for each change;
//! `modules/`, tables of functions that they share: `require('AGGREGATE/NAME')` is `AGGREGATE/modules/NAME.lua`; and the typed calls.

pub mod admission;
pub mod builds;
pub mod events;
pub mod expiry;
pub mod extension;
pub mod heads;
pub mod health;
pub mod keys;
pub mod libraries;
pub mod locks;
pub mod named_keys;
pub mod read;
pub mod reply;
pub mod request_keys;
pub mod scripts;
pub mod seams;
pub mod sweep;

mod clock;
#[cfg(test)]
mod tests;

pub use clock::{store_time, unix_ms};
pub use read::Read;

use coord_store::Script;

/// The scripts of all folders, from `build.rs`.
static SCRIPTS: &[&[&Script]] = include!(concat!(env!("OUT_DIR"), "/scripts.rs"));

/// All scripts of the core and of the extensions that are registered.
pub fn scripts() -> impl Iterator<Item = &'static Script> {
    let of_extensions = extension::registered().iter().map(|extension| extension.scripts);
    let lists = std::iter::once(SCRIPTS).chain(of_extensions);
    lists.flatten().copied().flatten().copied()
}

/// Whether calls need not wait until a change of `key` is on the disk: its value may be lost in a crash.
pub fn is_expendable(key: &[u8]) -> bool {
    let of_extensions = extension::registered()
        .iter()
        .flat_map(|extension| extension.expendable);
    [admission::keys::LIMITS, events::keys::REFUSALS, locks::keys::QUEUE]
        .iter()
        .chain(of_extensions)
        .any(|prefix| key.starts_with(prefix.as_bytes()))
}

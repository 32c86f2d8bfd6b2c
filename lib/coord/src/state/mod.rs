//! The state, by aggregate: one folder for each, with its keys, its Lua scripts, their includes, and the typed calls that decode
//! every outcome. Nothing outside of here says what is stored under which key.
//!
//! A folder has the same shape everywhere: `keys.rs`; `scripts.rs`, which lists the scripts; a file `NAME.lua` for each change; its
//! `includes/`; and the typed calls. `-- @include NAME` stands for `includes/NAME.lua`, `-- @include AGGREGATE/NAME` for
//! `AGGREGATE/includes/NAME.lua`.

pub mod admission;
pub mod builds;
pub mod events;
pub mod expiry;
pub mod heads;
pub mod health;
pub mod locks;
pub mod sweep;

mod keys;
mod read;
mod reply;
#[cfg(test)]
mod tests;

pub use read::Read;

use crate::store::Script;

/// Every script of every aggregate.
pub fn scripts() -> impl Iterator<Item = &'static Script> {
    // The lists of all folders, by `build.rs`.
    let lists = include!(concat!(env!("OUT_DIR"), "/scripts.rs"));
    lists.into_iter().flatten().copied()
}

/// Whether nobody has to wait until a change of `key` is on the disk: what it holds may be lost in a crash.
pub fn is_expendable(key: &[u8]) -> bool {
    [admission::keys::LIMITS, locks::keys::REFUSALS]
        .iter()
        .any(|prefix| key.starts_with(prefix.as_bytes()))
}

//! Intents and their ledger as data: no store, no git, no network, no runtime.
//!
//! - [`intent`]: an intent, and the transitions of its status
//! - [`ledger`]: lines of the ledger, their chain, and its verification
//! - [`intent_map`]: the table of files and their intents
//! - `files` (a feature): the file in which people read and edit intents

#[cfg(feature = "files")]
pub mod files;
pub mod intent;
pub mod intent_map;
pub mod ledger;

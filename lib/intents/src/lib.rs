//! Intents and their ledger as data: no store, no git, no network, no runtime.
//!
//! - [`intent`]: an intent, and the ways of its status
//! - [`scope`]: patterns of files, whether one covers a path, and whether two meet
//! - [`ledger`]: lines of the ledger, their chain, and its verification
//! - [`files`]: the files of a repository in which people read and edit both

pub mod files;
pub mod intent;
pub mod ledger;
pub mod scope;

//! Teams, tasks and messages as data and as the files of opencode-teams: no store, no network, no runtime, no disk.
//!
//! - [`names`], [`time`], [`status`]: the values, parsed once
//! - [`texts`]: the sentences that callers and files depend on
//! - [`task`], [`message`], [`team`]: the documented records, and their files
//! - [`answers`]: records in the answers of the plugin's tools
//! - [`layout`], [`find`]: where the files are, and which entries Coord reads and writes
//! - [`compare`]: the three-way comparison of last seen records, files and store
//! - [`rings`]: circular dependencies
//! - [`bounds`], [`refusal`], `json`, `shape`: limits of a file, its problems, and how it is read and written

pub mod answers;
pub mod bounds;
pub mod compare;
pub mod find;
mod json;
pub mod layout;
pub mod message;
pub mod names;
pub mod refusal;
pub mod rings;
mod shape;
pub mod status;
pub mod task;
pub mod team;
pub mod texts;
pub mod time;

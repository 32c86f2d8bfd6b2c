//! Compares three versions of a team: its folder, the store, and the last seen records.
//!
//! A sync holds both locks of the team's folder, and has two steps. [`import_files`] finds changes in the files, which
//! the scripts apply under their rules. [`export_files`] then makes the files match the store, and returns the next
//! [`AgreedState`].
//!
//! - [`StoreTeam`]: the team in the store, and its form in files
//! - [`Folder`]: the files; a refused file is neither applied nor overwritten
//! - [`Change`], [`Finding`]: changes to apply, and changes that are not applied, by file and field
//! - [`AppliedChange`], [`agreed_state()`], [`agreed_before`]: the seen records after an interrupted sync, with files
//!   that could not be written, and before a first sync applies anything

mod agreed;
mod applied;
mod config;
mod edges;
mod export;
mod finding;
mod folder;
mod import;
mod inboxes;
mod new_tasks;
mod seen;
mod sides;
mod store;
mod tasks;

pub use agreed::{ComparisonInput, agreed_before, agreed_state};
pub use applied::AppliedChange;
pub use export::{FileExport, export_files};
pub use finding::{Change, Finding, FindingKind, Recipient};
pub use folder::Folder;
pub use import::import_files;
pub use seen::{AgreedMessage, AgreedState, AgreedTask, SentNumbers};
pub use sides::FileImport;
pub use store::{StoreMember, StoreMessage, StoreTask, StoreTeam};

//! One team's folder and the team in the store, compared three ways with the last seen records.
//!
//! A sync holds both locks of the team's folder and goes in two steps: [`import_files`] finds changes in the files, which the scripts
//! apply under their rules; [`export_files`] then makes the files match the store, and gives the next [`AgreedState`].
//!
//! - [`StoreTeam`]: the store's team, and its form in files
//! - [`Folder`]: the files; one that is refused is neither applied nor written over
//! - [`Change`], [`Finding`]: changes to apply; those that are not, by file and field
//! - [`AppliedChange`], [`agreed_state()`], [`agreed_before`]: the seen records of a sync that was cut off, if files are not written, and before a
//!   first
//!   sync applies anything

mod agreed;
mod config;
mod done;
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
pub use done::AppliedChange;
pub use export::{FileExport, export_files};
pub use finding::{Change, Finding, Kind, Recipient};
pub use folder::Folder;
pub use import::import_files;
pub use seen::{AgreedMessage, AgreedState, AgreedTask, SentNumbers};
pub use sides::FileImport;
pub use store::{StoreMember, StoreMessage, StoreTask, StoreTeam};

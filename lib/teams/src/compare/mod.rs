//! One team's folder and the team in the store, three ways with what was last seen.
//!
//! A sync holds both locks of the team's folder and goes in two steps: [`take_in`] finds what the files changed, which is applied by
//! the scripts, under their rules; [`give_out`] then makes the files say what the store says, and gives the next [`Seen`].
//!
//! - [`StoreTeam`]: the store's team, and its form in files
//! - [`Folder`]: the files; one that is refused is neither applied nor written over
//! - [`Change`], [`Finding`]: changes to apply; those that are not, by file and field
//! - [`Done`], [`agreed()`], [`agreed_before`]: the seen records of a sync that was cut off, if files are not written, and before a
//!   first
//!   sync applies anything

mod agreed;
mod config;
mod done;
mod edges;
mod finding;
mod folder;
mod give_out;
mod inboxes;
mod new_tasks;
mod seen;
mod sides;
mod store;
mod take_in;
mod tasks;

pub use agreed::{Round, agreed, agreed_before};
pub use done::Done;
pub use finding::{Change, Finding, Kind, To};
pub use folder::Folder;
pub use give_out::{GiveOut, give_out};
pub use seen::{Seen, SeenMessage, SeenTask, Sent};
pub use sides::TakeIn;
pub use store::{StoreMember, StoreMessage, StoreTask, StoreTeam};
pub use take_in::take_in;

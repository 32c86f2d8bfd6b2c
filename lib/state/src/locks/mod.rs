//! Locks on files: checks, claims and releases.

pub mod keys;
pub mod scripts;

mod announce_interface_changes;
mod check;
mod claim;
mod claimed_repositories;
mod force;
mod gate;
mod live;
mod pending;
mod policy;
mod queue;
mod release;
mod survey;
mod written_file;

pub use announce_interface_changes::*;
pub use check::*;
pub use claim::*;
pub use claimed_repositories::*;
pub use force::*;
pub use gate::*;
pub use live::*;
pub use pending::*;
pub use policy::*;
pub use queue::*;
pub use release::*;
pub use survey::*;
pub use written_file::WrittenFile;

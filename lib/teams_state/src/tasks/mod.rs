//! Tasks of a team, their dependencies, and their claims.

pub mod keys;
pub mod scripts;

mod claim;
mod files;
mod lapses;
mod list;
mod outcome;
mod record;
mod write;

pub use claim::*;
pub use files::{ClaimedFiles, ReleasedFiles};
pub use lapses::*;
pub use list::*;
pub use outcome::*;
pub use record::*;
pub use write::*;

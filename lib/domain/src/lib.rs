//! Types of the rules. Each is parsed once, at the edge; a value that exists is valid.

mod branch;
mod build_progress;
mod commit;
mod event_id;
pub mod file_path;
mod holder;
mod instant;
mod invalid;
mod lock;
mod lock_reason;
pub mod orchestration;
mod repo_id;
pub mod team;
pub mod work;

pub use branch::Branch;
pub use build_progress::BuildProgress;
pub use commit::CommitSha;
pub use coord_protocol::plain_text::{is_plain_text, plain_text};
pub use coord_protocol::{LockMode, LockStatus};
pub use event_id::EventId;
pub use file_path::{FilePath, FilePaths};
pub use holder::{AgentId, Holder, Member, UserId};
pub use instant::format_instant;
pub use invalid::Invalid;
pub use lock::{LockEntry, NeighborPolicy};
pub use lock_reason::LockReason;
pub use repo_id::RepoId;

use invalid::quote;

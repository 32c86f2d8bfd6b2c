//! Types of the rules. Each is parsed once, at the edge; a value that exists is valid.

mod branch;
mod build_progress;
mod commit;
mod event_id;
pub mod file_path;
mod holder;
mod instant;
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
pub use holder::{AgentId, Holder, UserId};
pub use instant::instant;
pub use lock::{LockEntry, NeighborPolicy};
pub use lock_reason::LockReason;
pub use repo_id::RepoId;

/// The problem with a value, as one sentence with the fix. It may be shown to the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

/// At most the first 80 characters of `text`, escaped, to quote a caller's text in an error.
fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().nth(80).is_some() {
        short.push('…');
    }
    format!("'{short}'")
}

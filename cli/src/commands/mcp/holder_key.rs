//! A holder of a repository.

use std::path::PathBuf;

/// A holder of locks at the server of a clone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HolderKey {
    /// The repository, as requests name it.
    pub repo_url: String,
    pub agent_id: String,
    /// The folder that the worktrees of the clone share: another clone may have another server.
    pub clone: PathBuf,
}

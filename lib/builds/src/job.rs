//! One build: its parameters and its result.

use std::sync::Arc;

use super::stored_ignore::StoredIgnore;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_graph::{ImportGraph, Limits, Snapshot};
use coord_settings::policy::PolicyText;

/// A branch at a commit, its builder, and the limits of the build.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    pub repo: &'a RepoId,
    pub branch: &'a Branch,
    pub commit: &'a CommitSha,
    /// A name that no other process has.
    pub builder: &'a str,
    pub limits: Limits,
}

/// The last graph of a branch that this process built, with its commit.
#[derive(Clone, Debug)]
pub struct LastBuild {
    pub commit: CommitSha,
    /// The graph, with all data that the next build can reuse.
    pub snapshot: Arc<Snapshot>,
    /// `.intentignore` of the commit.
    pub ignore: Option<StoredIgnore>,
    /// `.coord.toml` of the commit, with the lines of `.gitattributes`.
    pub policy: PolicyText,
    /// The graph without the files that have no neighbors by policy. The scripts read it.
    pub neighbors: Arc<ImportGraph>,
}

impl LastBuild {
    /// About how many bytes of memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let is_shared = Arc::ptr_eq(&self.neighbors, self.snapshot.graph());
        self.snapshot.bytes() + if is_shared { 0 } else { self.neighbors.bytes() }
    }
}

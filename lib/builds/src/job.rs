//! One build: its parameters, its result, and the reasons for a failure.

use std::sync::Arc;

use super::stored_ignore::StoredIgnore;
use super::stored_policy::StoredPolicy;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_graph::{ImportGraph, Limits, Snapshot};
use coord_sources::SourceError;
use coord_store::StoreError;

/// A branch at a commit, its builder, and the limits of the build.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The repository.
    pub repo: &'a RepoId,
    /// The branch.
    pub branch: &'a Branch,
    /// Its head.
    pub commit: &'a CommitSha,
    /// A name that no other process has.
    pub builder: &'a str,
    /// The limits of the graph.
    pub limits: Limits,
}

/// The last graph built in this process, with its commit.
#[derive(Clone, Debug)]
pub struct LastBuild {
    /// The commit.
    pub commit: CommitSha,
    /// The graph, with all data that the next build can reuse.
    pub snapshot: Arc<Snapshot>,
    /// `.intentignore` of the commit.
    pub ignore: Option<StoredIgnore>,
    /// `.coord.toml` of the commit, with the lines of `.gitattributes`.
    pub policy: StoredPolicy,
    /// The graph without files that have no neighbors: the scripts read this.
    pub neighbors: Arc<ImportGraph>,
}

impl LastBuild {
    /// About how many bytes of memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let is_own = !Arc::ptr_eq(&self.neighbors, self.snapshot.graph());
        self.snapshot.bytes() + if is_own { self.neighbors.bytes() } else { 0 }
    }
}

/// Why there is no new graph.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The repository could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store does not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The graph could not be encoded, which does not happen.
    #[error("the graph could not be encoded: {0}")]
    Encoding(String),
    /// Again and again the store has lost a part of the staged graph.
    #[error("the store has lost parts of the staged graph")]
    Torn,
    /// The time limit was exceeded.
    #[error("the graph took longer to build than it may")]
    TimeUp,
}

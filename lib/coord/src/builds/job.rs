//! One build: its request, its result, and the reasons why there may be no new graph.

use std::sync::Arc;

use crate::domain::{Branch, CommitSha, RepoId};
use crate::source::SourceError;
use crate::store::StoreError;
use coord_graph::{Limits, Snapshot};

/// Whose branch, at which commit, who builds, and how much that may take.
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
    /// What the graph may take.
    pub limits: Limits,
}

/// A graph as it was last built here, with the commit that it is of.
#[derive(Clone, Debug)]
pub struct Built {
    /// The commit.
    pub commit: CommitSha,
    /// The graph, with all that the next build can use.
    pub snapshot: Arc<Snapshot>,
}

/// Why there is no new graph.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The repository could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store gives no answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something that cannot fail did.
    #[error("the graph could not be encoded: {0}")]
    Encoding(String),
    /// It has not ended by the time that it had to.
    #[error("the graph took longer to build than it may")]
    TimeUp,
}

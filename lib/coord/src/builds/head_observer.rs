//! News of the branches that requests meet.

use crate::domain::{Branch, CommitSha, RepoId};

/// Keeps what follows from heads up to date. All calls must return at once.
pub trait HeadObserver: Send + Sync + 'static {
    /// A request has learned from the source that `branch` of `repo` is at `head`.
    fn saw_head(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// The store has no graph of `branch`, which is at `head`, or none that can be read: it may have lost one that was built.
    fn misses_graph(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// A sweep is under way: every known branch is looked at again, in case the store has lost its graph.
    fn look_again(&self);
}

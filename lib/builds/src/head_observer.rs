//! Observes the branches that requests meet.

use coord_domain::{Branch, CommitSha, RepoId};

/// Keeps graphs in step with heads. All calls must return at once.
pub trait HeadObserver: Send + Sync + 'static {
    /// A request has found that `branch` of `repo` is at `head`.
    fn saw_head(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// The same, found without a request, by a look at the source or a webhook. The graph is updated while it is kept for
    /// callers; an expired one is not built again.
    fn saw_move(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// The store has no graph of `branch`, which is at `head`, or an unreadable one: it may have lost a graph that was
    /// built.
    fn report_missing_graph(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// A sweep is in progress: every known branch is checked again, in case the store has lost its graph.
    fn look_again(&self);
}

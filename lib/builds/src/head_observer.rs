//! Observes the heads of branches.

use coord_domain::{Branch, CommitSha, RepoId};

/// Keeps graphs up to date with heads. All calls must return at once.
pub trait HeadObserver: Send + Sync + 'static {
    /// A request found that `branch` of `repo` is at `head`.
    fn saw_head(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// The source or a webhook reported, without a request, that `branch` of `repo` is at `head`. The graph is updated
    /// unless it has expired because no caller requested it.
    fn saw_move(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// The store has no graph of `branch`, which is at `head`, or an unreadable one. It may have lost a graph that was
    /// built.
    fn report_missing_graph(&self, repo: &RepoId, branch: &Branch, head: &CommitSha);

    /// A sweep is in progress: checks every known branch again, in case the store has lost its graph.
    fn recheck_all(&self);
}

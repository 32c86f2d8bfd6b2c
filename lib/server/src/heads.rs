//! Heads of branches that are kept in the store with their age, because their source is expensive.

use coord_domain::{Branch, CommitSha, RepoId};
use coord_sources::{KnownHead, Source, SourceError};
use coord_state::heads::{FetchedHead, HeadChange, distrust_webhook, forget_head, record_head, record_head_failure};
use coord_store::{Store, StoreError};

/// Number of commits that are recorded with a new head: one page of GitHub's API.
const RECENT_COMMITS: usize = 100;

/// Seconds until an unreachable source is tried again.
const RETRY_SECONDS: u64 = 5;

/// Why a head could not be refreshed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RefreshError {
    /// The source returned no head.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store does not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fetches the head of `branch` from `source` and records it. A failed fetch is recorded with the pause before the
/// next; the head of an unknown branch is deleted. If a repository is gone or was renamed, GitHub no longer delivers
/// its pushes under this name. Then the webhook is no reason to trust its heads any longer.
///
/// # Errors
/// When source or store do not respond, or there is no such branch.
pub async fn refresh(
    store: &dyn Store,
    source: &dyn Source,
    repo: &RepoId,
    branch: &Branch,
    stored_head: Option<&KnownHead>,
) -> Result<CommitSha, RefreshError> {
    let head = match source.refresh_head(repo, branch, stored_head).await {
        Ok(head) => head,
        Err(error) => {
            match &error {
                SourceError::UnknownBranch { .. } => forget_head(store, repo, branch).await?,
                SourceError::UnknownRepository { .. } => {
                    forget_head(store, repo, branch).await?;
                    distrust_webhook(store, repo).await?;
                }
                SourceError::RateLimited {
                    retry_after_seconds, ..
                } => record_head_failure(store, repo, branch, *retry_after_seconds).await?,
                SourceError::Unreachable(_) | SourceError::NotConfigured(_) => {
                    record_head_failure(store, repo, branch, RETRY_SECONDS).await?;
                }
            }
            return Err(error.into());
        }
    };
    let is_unchanged = stored_head.is_some_and(|stored| stored.commit == head.commit);
    let recent = if is_unchanged {
        Vec::new()
    } else {
        // Without this list, each commit is looked up at the source.
        source
            .recent_commits(repo, &head.commit, RECENT_COMMITS)
            .await
            .unwrap_or_else(|error| {
                tracing::warn!(%error, %repo, %branch, "the commits of a branch could not be listed");
                Vec::new()
            })
    };
    let fetched = FetchedHead {
        commit: &head.commit,
        recent: &recent,
        etag: head.etag.as_deref(),
        is_whole: head.is_whole,
    };
    if record_head(store, repo, branch, &fetched).await? == HeadChange::Moved {
        tracing::debug!(%repo, %branch, head = %head.commit, "the branch has moved");
    }
    Ok(head.commit)
}

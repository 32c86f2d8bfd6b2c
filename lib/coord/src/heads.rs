//! Heads of branches that are kept in the store with their age, because their source is expensive.

use crate::domain::{Branch, CommitSha, RepoId};
use crate::settings::environment::{ConfigError, Environment, value_of};
use crate::settings::variables::env_vars;
use crate::source::{KnownHead, Source, SourceError};
use crate::state::heads::{FetchedHead, HeadChange, distrust_webhook, fail_head, forget_head, record_head};
use crate::store::{Store, StoreError};

/// Commits recorded with a head that has moved: one page of GitHub's API.
const RECENT_COMMITS: usize = 100;

/// Seconds until an unreachable source is tried again.
const RETRY_SECONDS: u64 = 5;

/// Maximum ages of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadAges {
    /// Seconds after which the head is fetched again.
    pub refresh_after: u32,
    /// Maximum age in seconds for a claim to write, when the head cannot be fetched.
    pub at_most: u32,
}

impl Default for HeadAges {
    fn default() -> Self {
        HeadAges {
            refresh_after: 10,
            at_most: 60,
        }
    }
}

impl HeadAges {
    const LONGEST: u32 = 3_600;

    /// # Errors
    /// When a variable has an invalid value.
    pub fn from_env(environment: Environment<'_>) -> Result<Self, ConfigError> {
        let default = HeadAges::default();
        let seconds = |variable: &'static str, default: u32, least: u32| match value_of(environment, variable) {
            None => Ok(default.max(least)),
            Some(text) => {
                let seconds = text.parse().ok();
                let seconds = seconds.filter(|seconds| (least..=Self::LONGEST).contains(seconds));
                seconds.ok_or_else(|| ConfigError {
                    variable,
                    problem: format!("must be a number of seconds from {least} to {}", Self::LONGEST),
                })
            }
        };
        let refresh_after = seconds(env_vars::COORD_HEAD_TTL_SECONDS, default.refresh_after, 1)?;
        Ok(HeadAges {
            refresh_after,
            at_most: seconds(env_vars::COORD_HEAD_MAX_AGE_SECONDS, default.at_most, refresh_after)?,
        })
    }
}

/// Why a head could not be refreshed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RefreshError {
    /// The source gave no head.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store does not respond.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fetches the head of `branch` from `source` and records it; `known` is the head in the store. A failed fetch is recorded
/// with the pause before the next; the head of an unknown branch is deleted. Of a repository that is gone, or has another name,
/// no head is trusted any longer because of the webhook: its pushes are not delivered under this name.
///
/// # Errors
/// When source or store do not respond, or there is no such branch.
pub async fn refresh(
    store: &dyn Store,
    source: &dyn Source,
    repo: &RepoId,
    branch: &Branch,
    known: Option<&KnownHead>,
) -> Result<CommitSha, RefreshError> {
    let head = match source.refresh_head(repo, branch, known).await {
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
                } => fail_head(store, repo, branch, *retry_after_seconds).await?,
                SourceError::Unreachable(_) | SourceError::NotConfigured(_) => {
                    fail_head(store, repo, branch, RETRY_SECONDS).await?;
                }
            }
            return Err(error.into());
        }
    };
    let is_known = known.is_some_and(|known| known.commit == head.commit);
    let recent = if is_known {
        Vec::new()
    } else {
        // Without this list, commits are looked up at the source one by one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_seconds_within_bounds() {
        let with = |ttl: &'static str, most: &'static str| {
            HeadAges::from_env(&move |name| match name {
                env_vars::COORD_HEAD_TTL_SECONDS => Some(ttl.to_owned()),
                env_vars::COORD_HEAD_MAX_AGE_SECONDS => Some(most.to_owned()),
                _ => None,
            })
        };
        let ages = |refresh_after, at_most| Ok(HeadAges { refresh_after, at_most });
        assert_eq!(with("", "undefined"), Ok(HeadAges::default()));
        assert_eq!(with("1", "1"), ages(1, 1));
        assert_eq!(with("90", ""), ages(90, 90));
        for (ttl, most, variable) in [
            ("0", "", env_vars::COORD_HEAD_TTL_SECONDS),
            ("3601", "", env_vars::COORD_HEAD_TTL_SECONDS),
            ("10 s", "", env_vars::COORD_HEAD_TTL_SECONDS),
            ("30", "29", env_vars::COORD_HEAD_MAX_AGE_SECONDS),
            ("", "-1", env_vars::COORD_HEAD_MAX_AGE_SECONDS),
        ] {
            assert_eq!(with(ttl, most).unwrap_err().variable, variable, "{ttl} {most}");
        }
    }
}

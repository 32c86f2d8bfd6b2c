//! Errors of requests to GitHub, and their translation to [`SourceError`].

use std::time::Duration;

use super::address::renamed;
use super::rate_limit::{LimitKind, UsedUpLimit};
use crate::SourceError;
use coord_domain::RepoId;

/// Why a request to GitHub failed. The texts are for the log. They contain neither a credential nor a URL, because the
/// URL of a download contains a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum GithubError {
    /// 404, also for a repository that the credential may not see: GitHub does not distinguish them.
    #[error("GitHub responded 404: not found, or not visible with this credential")]
    NotFound,
    /// 410, or 451 for a legal takedown.
    #[error("GitHub responded {0}: it is gone")]
    Gone(u16),
    /// 409: the repository has no commit.
    #[error("GitHub responded 409: the repository is empty")]
    Empty,
    /// 422: there is no such commit or reference.
    #[error("GitHub responded 422: no such commit")]
    NoSuchCommit,
    /// 401: the credential is not accepted.
    #[error("GitHub did not accept the credential (401); check GITHUB_TOKEN or the GitHub App")]
    BadCredential,
    /// 403 that is not a rate limit.
    #[error("GitHub refused the request (403): {0}")]
    Forbidden(String),
    /// 403 or 429 because of a rate limit.
    #[error("{0}")]
    RateLimited(UsedUpLimit),
    /// 5xx.
    #[error("GitHub responded {0}")]
    Server(u16),
    /// Any other status.
    #[error("GitHub responded {0}, which was not expected")]
    Unexpected(u16),
    /// The connection failed or broke.
    #[error("GitHub cannot be reached: {0}")]
    Unreachable(String),
    /// No response in time.
    #[error("GitHub returned no {subject} within {limit:?}")]
    Timeout { subject: &'static str, limit: Duration },
    /// A response above its limit.
    #[error("{subject} is larger than {limit}")]
    TooLarge {
        /// The part that is too large.
        subject: &'static str,
        /// The limit in bytes, or in the unit that `subject` names.
        limit: u64,
    },
    /// The repository has another name now: `owner/name`.
    #[error("the repository was renamed")]
    Renamed(String),
    /// A response without the documented form.
    #[error("GitHub's response is not valid: {0}")]
    Malformed(String),
    /// A redirect that is not followed.
    #[error("GitHub sent a redirect that is not followed: {0}")]
    BadRedirect(&'static str),
    /// The app has no installation with access to the repository.
    #[error("the GitHub App is not installed for this repository")]
    NotInstalled,
}

impl GithubError {
    /// Whether the same request may succeed a moment later.
    pub(super) fn is_transient(&self) -> bool {
        matches!(self, GithubError::Unreachable(_))
            || matches!(self, GithubError::Server(status) if matches!(status, 500 | 502 | 503 | 504))
    }

    /// The error of a request about `repo`, for callers of the source.
    pub(super) fn into_source_error(self, repo: &RepoId) -> SourceError {
        match self {
            GithubError::NotFound | GithubError::Gone(_) | GithubError::NotInstalled => {
                tracing::debug!(%repo, cause = %self, "the repository was not found");
                SourceError::UnknownRepository {
                    repo: repo.clone(),
                    known: Vec::new(),
                    renamed_to: None,
                }
            }
            GithubError::Renamed(full_name) => SourceError::UnknownRepository {
                repo: repo.clone(),
                known: Vec::new(),
                renamed_to: renamed(repo, &full_name),
            },
            GithubError::RateLimited(limit) => SourceError::RateLimited {
                retry_after_seconds: limit.seconds(),
                is_secondary: limit.kind == LimitKind::Secondary,
            },
            error => SourceError::Unreachable(format!("{repo}: {error}")),
        }
    }
}

//! What can go wrong between here and GitHub, and what of it becomes of a [`SourceError`].

use std::time::Duration;

use super::rate_limit::{LimitKind, Limited};
use crate::domain::RepoId;
use crate::source::SourceError;

/// Why GitHub gave no answer that can be used. The texts are for the log, and hold neither a credential nor a URL: that of a
/// download carries a token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GithubError {
    /// 404, and for a repository that may not be seen: GitHub does not tell one from the other.
    #[error("GitHub answers 404: not there, or not visible with this credential")]
    NotFound,
    /// 410, or 451 where the law took it away.
    #[error("GitHub answers {0}: it is gone")]
    Gone(u16),
    /// 409: the repository has no commit.
    #[error("GitHub answers 409: the repository is empty")]
    Empty,
    /// 422: there is no such commit or reference.
    #[error("GitHub answers 422: no such commit")]
    NoSuchCommit,
    /// 401: the credential is not accepted.
    #[error("GitHub does not accept the credential (401); check GITHUB_TOKEN or the GitHub App")]
    BadCredential,
    /// 403 that is no rate limit.
    #[error("GitHub refuses (403): {0}")]
    Forbidden(String),
    /// 403 or 429 because of a rate limit.
    #[error("{0}")]
    RateLimited(Limited),
    /// 5xx.
    #[error("GitHub answers {0}")]
    Server(u16),
    /// Another status, which does not belong here.
    #[error("GitHub answers {0}, which was not expected")]
    Unexpected(u16),
    /// The connection could not be made, or broke.
    #[error("GitHub cannot be reached: {0}")]
    Unreachable(String),
    /// No answer in time.
    #[error("GitHub gave no {what} within {limit:?}")]
    Timeout {
        /// What was waited for.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// An answer that is larger than it may be.
    #[error("{what} is larger than {limit}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The limit, in bytes, entries or requests, as the words say.
        limit: u64,
    },
    /// An answer that does not have the documented form.
    #[error("GitHub's answer is not understood: {0}")]
    Malformed(String),
    /// A redirect to somewhere else.
    #[error("GitHub redirects to a place that is not followed: {0}")]
    BadRedirect(&'static str),
    /// The app has no installation that sees the repository.
    #[error("the GitHub App is not installed for this repository")]
    NotInstalled,
}

impl GithubError {
    /// Whether the same request may be answered a moment later.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, GithubError::Unreachable(_))
            || matches!(self, GithubError::Server(status) if matches!(status, 500 | 502 | 503 | 504))
    }

    /// What it means to one who asked about `repo`.
    pub(super) fn about(self, repo: &RepoId) -> SourceError {
        match self {
            GithubError::NotFound | GithubError::Gone(_) | GithubError::NotInstalled => {
                tracing::debug!(%repo, cause = %self, "the repository is not there");
                SourceError::UnknownRepository {
                    repo: repo.clone(),
                    known: Vec::new(),
                }
            }
            GithubError::RateLimited(limited) => SourceError::RateLimited {
                retry_after_seconds: limited.seconds(),
                is_secondary: limited.kind == LimitKind::Secondary,
            },
            error => SourceError::Unreachable(format!("{repo}: {error}")),
        }
    }
}

/// The first cause of `error`, which says more than "error sending request" and never holds the URL.
pub(super) fn innermost(error: &reqwest::Error) -> String {
    let Some(mut cause) = std::error::Error::source(error) else {
        return "the request failed".to_owned();
    };
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

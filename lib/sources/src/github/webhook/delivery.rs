//! The content of a delivery.

use chrono::DateTime;

use coord_domain::{Branch, CommitSha, Invalid, RepoId};

/// The end of the year 9999, in Unix seconds.
const LATEST: i64 = 253_402_300_799;

/// The content of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A branch was pushed to, created or deleted.
    Push(Push),
    /// A pull request from a branch of the repository was opened, changed or closed.
    PullRequest(PullRequest),
    /// A repository that has another name now, or is deleted, by its name before.
    Gone(RepoId),
    /// The webhook was created.
    Ping,
    /// An event that concerns no branch.
    Other,
}

/// A written time, in Unix seconds.
pub(super) fn written_time(field: &str, text: &str) -> Result<i64, Invalid> {
    let seconds = DateTime::parse_from_rfc3339(text).ok().map(|at| at.timestamp());
    time(field, seconds.unwrap_or_default())
}

pub(super) fn time(field: &str, seconds: i64) -> Result<i64, Invalid> {
    if (1..=LATEST).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(Invalid(format!("{field}: not a time between 1970 and 9999")))
    }
}

/// A pull request from a branch of the repository itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    pub repo: RepoId,
    /// The branch that it is for.
    pub branch: Branch,
    /// The branch that has the changes.
    pub work_branch: Branch,
    pub number: u64,
    /// When it was closed, in Unix seconds; `None` while it is open.
    pub closed_at: Option<i64>,
}

/// A push to a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    pub repo: RepoId,
    /// Its number at GitHub, which stays when it is renamed.
    pub number: Option<u64>,
    pub branch: Branch,
    /// Its head before the push; `None` if it was created.
    pub before: Option<CommitSha>,
    /// Its head after the push; `None` if it was deleted.
    pub after: Option<CommitSha>,
    /// Whether the head before is not an ancestor of the head after.
    pub is_forced: bool,
    /// The commits of the push, newest first, the newest [`MOST_COMMITS`](super::MOST_COMMITS) of them.
    pub commits: Vec<CommitSha>,
    /// Time of the last push to the repository, in Unix seconds: of two deliveries, the later time is newer.
    pub pushed_at: i64,
}

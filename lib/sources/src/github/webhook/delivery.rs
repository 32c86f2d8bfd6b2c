//! The content of a delivery.

use chrono::DateTime;
use serde::Deserialize;

use coord_domain::{Branch, CommitSha, Invalid, RepoId};

/// The end of the year 9999, in Unix seconds.
const MAX_TIME: i64 = 253_402_300_799;

/// The content of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A branch was pushed to, created or deleted.
    Push(Push),
    /// A pull request from a branch of the repository was opened, changed or closed.
    PullRequest(PullRequest),
    /// The old name of a repository that was renamed, transferred or deleted.
    Gone(RepoId),
    /// The webhook was created.
    Ping,
    /// An event that concerns no branch.
    Other,
}

/// Parses a delivery. `event` names it in the error.
pub(super) fn from_json<'a, T: Deserialize<'a>>(event: &str, body: &'a [u8]) -> Result<T, Invalid> {
    serde_json::from_slice(body).map_err(|error| {
        // The error may quote a text of any length.
        let why: String = error.to_string().chars().take(200).collect();
        Invalid(format!("the delivery is not a valid {event}: {why}"))
    })
}

/// Parses a time in text form (RFC 3339) to Unix seconds.
pub(super) fn parse_time(field: &str, text: &str) -> Result<i64, Invalid> {
    let time = DateTime::parse_from_rfc3339(text).ok();
    check_time(field, time.map(|time| time.timestamp()).unwrap_or_default())
}

pub(super) fn check_time(field: &str, seconds: i64) -> Result<i64, Invalid> {
    if (1..=MAX_TIME).contains(&seconds) {
        Ok(seconds)
    } else {
        Err(Invalid(format!("{field}: not a time between 1970 and 9999")))
    }
}

/// A pull request from a branch of the repository itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    pub repo: RepoId,
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
    /// The number of the repository at GitHub, which stays when it is renamed.
    pub number: Option<u64>,
    pub branch: Branch,
    /// The head before the push; `None` if the push created the branch.
    pub before: Option<CommitSha>,
    /// The head after the push; `None` if the push deleted the branch.
    pub after: Option<CommitSha>,
    /// Whether the head before is not an ancestor of the head after.
    pub is_forced: bool,
    /// The newest [`MAX_COMMITS`](super::MAX_COMMITS) commits of the push, newest first.
    pub commits: Vec<CommitSha>,
    /// Time of the last push to the repository, in Unix seconds. It orders deliveries.
    pub pushed_at: i64,
}

use super::keys;
use super::scripts::{FAIL_HEAD, PUSH_HEAD, RECORD_HEAD};
use crate::domain::{Branch, CommitSha, RepoId};
use crate::state::read::Read;
use crate::state::reply::{arguments, call};
use crate::state::{builds, events};
use crate::store::{Request, Store, StoreError};

/// How long a webhook counts as alive after it delivered a push: a day.
const WEBHOOK_ALIVE_FOR: &str = "86400";

/// What [`record_head`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadChange {
    /// The branch has moved, or is seen for the first time; that was announced.
    Moved,
    /// It was known.
    Unchanged,
}

/// A head, and how it was fetched.
#[derive(Clone, Copy, Debug)]
pub struct FetchedHead<'a> {
    /// The newest commit of the branch.
    pub commit: &'a CommitSha,
    /// Commits reachable from it, newest first: what lets a function tell that a commit was pushed without asking.
    pub recent: &'a [CommitSha],
    /// What came with the answer.
    pub etag: Option<&'a str>,
    /// It was answered in whole, not by "not modified".
    pub is_whole: bool,
}

impl<'a> FetchedHead<'a> {
    /// With a response in full, and without an ETag.
    pub fn of(commit: &'a CommitSha, recent: &'a [CommitSha]) -> Self {
        FetchedHead {
            commit,
            recent,
            etag: None,
            is_whole: true,
        }
    }
}

/// Notes the newest commit of `branch`, and that somebody looked now.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn record_head(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    fetched: &FetchedHead<'_>,
) -> Result<HeadChange, StoreError> {
    let args = arguments([
        branch.as_str(),
        fetched.commit.as_str(),
        &joined(fetched.recent),
        fetched.etag.unwrap_or_default(),
        if fetched.is_whole { "1" } else { "0" },
    ]);
    let reply = call(store, &RECORD_HEAD, head_keys(repo, branch), args).await?;
    match reply.outcome.as_str() {
        "MOVED" => Ok(HeadChange::Moved),
        "UNCHANGED" => Ok(HeadChange::Unchanged),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// The stored head of `branch`, however old.
pub fn stored_head(repo: &RepoId, branch: &Branch) -> Read<Option<CommitSha>> {
    let request = Request::command(["HGET", &keys::head(repo, branch), "commit"]);
    Read::new([request], |[commit]| {
        Ok(commit.as_str().and_then(|text| CommitSha::parse(text).ok()))
    })
}

/// Notes that the head of `branch` could not be asked for, and when that may be tried again.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn fail_head(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    retry_after_seconds: u64,
) -> Result<(), StoreError> {
    let key = vec![keys::head(repo, branch)];
    call(store, &FAIL_HEAD, key, arguments([&retry_after_seconds.to_string()])).await?;
    Ok(())
}

/// Notes that there is no such branch any more; its graph goes within the hour.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn forget_head(store: &dyn Store, repo: &RepoId, branch: &Branch) -> Result<(), StoreError> {
    let mut keys = vec![keys::head(repo, branch)];
    keys.extend(builds::keys::graph_with_parts(repo, branch));
    call(store, &FAIL_HEAD, keys, arguments([""])).await?;
    Ok(())
}

/// A push, as a webhook tells of it.
#[derive(Clone, Copy, Debug)]
pub struct PushedHead<'a> {
    /// The head before; none where the branch is new.
    pub before: Option<&'a CommitSha>,
    /// The head after; none where the branch is gone.
    pub after: Option<&'a CommitSha>,
    /// Commits of the push, newest first.
    pub commits: &'a [CommitSha],
    /// The branch lost commits.
    pub is_reset: bool,
    /// When it was pushed to, Unix seconds.
    pub pushed_at: i64,
}

/// What became of a [`PushedHead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// The branch has moved; that was announced.
    Moved,
    /// It was known.
    Unchanged,
    /// It does not follow on what is known: late, doubled, or something is missing. The source must be asked.
    AskSource,
    /// Nobody has asked about this branch.
    Unused,
}

/// Notes a push.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn push_head(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    push: &PushedHead<'_>,
) -> Result<Pushed, StoreError> {
    let args = arguments([
        branch.as_str(),
        push.before.map_or("", CommitSha::as_str),
        push.after.map_or("", CommitSha::as_str),
        &joined(push.commits),
        if push.is_reset { "1" } else { "0" },
        &push.pushed_at.to_string(),
        WEBHOOK_ALIVE_FOR,
    ]);
    let reply = call(store, &PUSH_HEAD, head_keys(repo, branch), args).await?;
    match reply.outcome.as_str() {
        "MOVED" => Ok(Pushed::Moved),
        "UNCHANGED" => Ok(Pushed::Unchanged),
        "ASK_SOURCE" => Ok(Pushed::AskSource),
        "UNUSED" => Ok(Pushed::Unused),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

fn head_keys(repo: &RepoId, branch: &Branch) -> Vec<String> {
    vec![
        keys::head(repo, branch),
        events::keys::status_log(repo),
        events::keys::events(repo),
        keys::webhook(repo),
    ]
}

fn joined(commits: &[CommitSha]) -> String {
    commits.iter().map(CommitSha::as_str).collect::<Vec<_>>().join(" ")
}

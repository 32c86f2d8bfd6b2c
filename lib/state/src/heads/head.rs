use serde::Serialize;

use super::keys;
use super::scripts::{FAIL_HEAD, PUSH_HEAD, RECORD_HEAD};
use crate::admission::is_false;
use crate::read::Read;
use crate::request_keys::Keys;
use crate::{builds, events};
use coord_domain::{Branch, CommitSha, RepoId};
use coord_store::{Request, Store, StoreError, Value};

/// How long a webhook counts as alive after it delivered a push: a day.
const WEBHOOK_ALIVE_FOR: u32 = 86_400;

/// How long the name of a repository is kept after a push: 90 days.
const NAME_KEPT_FOR: &str = "7776000";

/// The outcome of [`record_head`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadChange {
    /// The branch has moved, or is new to the store; that was announced.
    Moved,
    /// The head was already known.
    Unchanged,
}

/// A head, and how it was fetched.
#[derive(Clone, Copy, Debug)]
pub struct FetchedHead<'a> {
    /// The newest commit of the branch.
    pub commit: &'a CommitSha,
    /// Commits reachable from it, newest first: by these, a function recognizes a pushed commit without asking the source.
    pub recent: &'a [CommitSha],
    /// The ETag of the response.
    pub etag: Option<&'a str>,
    /// Whether the response was full, and not "not modified".
    pub is_whole: bool,
}

impl<'a> FetchedHead<'a> {
    /// The head in a full response without an ETag.
    pub fn of(commit: &'a CommitSha, recent: &'a [CommitSha]) -> Self {
        FetchedHead {
            commit,
            recent,
            etag: None,
            is_whole: true,
        }
    }
}

/// Arguments of `record_head.lua`.
#[derive(Serialize)]
struct RecordHeadArgs<'a> {
    branch: &'a str,
    commit: &'a str,
    recent: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    is_whole: bool,
}

/// Records the newest commit of `branch`, confirmed now.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn record_head(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    fetched: &FetchedHead<'_>,
) -> Result<HeadChange, StoreError> {
    let request = RecordHeadArgs {
        branch: branch.as_str(),
        commit: fetched.commit.as_str(),
        recent: &join_commits(fetched.recent),
        etag: fetched.etag,
        is_whole: fetched.is_whole,
    };
    let reply = head_keys(repo, branch).call(store, &RECORD_HEAD, &request).await?;
    match reply.outcome.as_str() {
        "MOVED" => Ok(HeadChange::Moved),
        "UNCHANGED" => Ok(HeadChange::Unchanged),
        _ => reply.unknown(),
    }
}

/// The stored head of `branch`, however old.
pub fn stored_head(repo: &RepoId, branch: &Branch) -> Read<Option<CommitSha>> {
    let request = Request::command(["HGET", &keys::head(repo, branch), "commit"]);
    Read::new([request], |[commit]| {
        Ok(commit.as_str().and_then(|text| CommitSha::parse(text).ok()))
    })
}

/// Arguments of `fail_head.lua`.
#[derive(Serialize)]
struct FailHeadArgs {
    #[serde(skip_serializing_if = "Option::is_none")]
    pause: Option<u64>,
}

/// Records that the head of `branch` could not be fetched, and when to try again.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn record_head_failure(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    retry_after_seconds: u64,
) -> Result<(), StoreError> {
    let keys = Keys::of([("head", keys::head(repo, branch))]);
    let request = FailHeadArgs {
        pause: Some(retry_after_seconds),
    };
    keys.call(store, &FAIL_HEAD, &request).await?;
    Ok(())
}

/// Records that the branch does not exist; its graph expires within an hour.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn forget_head(store: &dyn Store, repo: &RepoId, branch: &Branch) -> Result<(), StoreError> {
    let mut keys = builds::keys::graph_with_parts(repo, branch);
    keys.add([("head", keys::head(repo, branch))]);
    keys.call(store, &FAIL_HEAD, &FailHeadArgs { pause: None }).await?;
    Ok(())
}

/// A push, from a webhook delivery.
#[derive(Clone, Copy, Debug)]
pub struct PushedHead<'a> {
    /// The head before; `None` for a new branch.
    pub before: Option<&'a CommitSha>,
    /// The head after; `None` for a deleted branch.
    pub after: Option<&'a CommitSha>,
    /// Commits of the push, newest first.
    pub commits: &'a [CommitSha],
    /// Whether the branch lost commits.
    pub is_reset: bool,
    /// Time of the push, Unix seconds.
    pub pushed_at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The branch has moved; that was announced.
    Moved,
    /// The head was already known.
    Unchanged,
    /// It does not continue from the known head: it is late or repeated, or a delivery is missing. The source must be asked.
    AskSource,
    /// No request has used this branch.
    Unused,
}

/// Arguments of `push_head.lua`.
#[derive(Serialize)]
struct PushHeadArgs<'a> {
    branch: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'a str>,
    commits: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    is_reset: bool,
    pushed_at: i64,
    alive_for: u32,
}

/// Records a push.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn push_head(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    push: &PushedHead<'_>,
) -> Result<PushOutcome, StoreError> {
    let request = PushHeadArgs {
        branch: branch.as_str(),
        before: push.before.map(CommitSha::as_str),
        after: push.after.map(CommitSha::as_str),
        commits: &join_commits(push.commits),
        is_reset: push.is_reset,
        pushed_at: push.pushed_at,
        alive_for: WEBHOOK_ALIVE_FOR,
    };
    let reply = head_keys(repo, branch).call(store, &PUSH_HEAD, &request).await?;
    match reply.outcome.as_str() {
        "MOVED" => Ok(PushOutcome::Moved),
        "UNCHANGED" => Ok(PushOutcome::Unchanged),
        "ASK_SOURCE" => Ok(PushOutcome::AskSource),
        "UNUSED" => Ok(PushOutcome::Unused),
        _ => reply.unknown(),
    }
}

/// Stops trusting the webhook of `repo` until its next delivery: heads are fetched as if there were no webhook. Returns whether it
/// was trusted.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn distrust_webhook(store: &dyn Store, repo: &RepoId) -> Result<bool, StoreError> {
    let replies = store.run(vec![Request::command(["DEL", &keys::webhook(repo)])]).await?;
    match replies.into_iter().next() {
        Some(Value::Int(count)) => Ok(count > 0),
        Some(Value::Error(message)) => Err(StoreError::Failed(message)),
        _ => Err(StoreError::Malformed(
            "the reply to deleting the mark of a webhook".to_owned(),
        )),
    }
}

/// Records that a push to `repo`, whose number is `number`, was delivered. If the previous push was delivered under a different name,
/// because the repository was renamed, returns that name.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn record_delivered_name(
    store: &dyn Store,
    repo: &RepoId,
    number: u64,
) -> Result<Option<RepoId>, StoreError> {
    let key = keys::delivered_name(repo, number);
    let words = ["SET", &key, repo.as_str(), "EX", NAME_KEPT_FOR, "GET"];
    match store.run(vec![Request::command(words)]).await?.into_iter().next() {
        Some(Value::Error(message)) => Err(StoreError::Failed(message)),
        Some(previous) => {
            let previous = previous
                .as_str()
                .and_then(|name| RepoId::parse(&format!("https://{name}")).ok());
            Ok(previous.filter(|previous| previous != repo))
        }
        None => Err(StoreError::Malformed("the name of a repository".to_owned())),
    }
}

fn head_keys(repo: &RepoId, branch: &Branch) -> Keys {
    Keys::of([
        ("head", keys::head(repo, branch)),
        ("status_log", events::keys::status_log(repo)),
        ("events", events::keys::events(repo)),
        ("webhook", keys::webhook(repo)),
    ])
}

fn join_commits(commits: &[CommitSha]) -> String {
    commits.iter().map(CommitSha::as_str).collect::<Vec<_>>().join(" ")
}

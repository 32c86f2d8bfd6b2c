use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::delivery::{Delivery, Push, check_time, from_json, parse_time};
use super::payload_repository::{PayloadRepository, repo_id};
use coord_domain::{Branch, CommitSha, Invalid};

/// Maximum number of commits read from a push: as many as the recent commits of a branch. GitHub lists up to 2,048.
pub const MAX_COMMITS: usize = 200;

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(rename = "ref", borrow)]
    reference: Cow<'a, str>,
    #[serde(borrow)]
    before: Cow<'a, str>,
    #[serde(borrow)]
    after: Cow<'a, str>,
    #[serde(default)]
    forced: bool,
    #[serde(default, deserialize_with = "newest_commits")]
    commits: VecDeque<String>,
    #[serde(borrow)]
    repository: Repository<'a>,
}

#[derive(Deserialize)]
struct Repository<'a> {
    #[serde(borrow, flatten)]
    identity: PayloadRepository<'a>,
    id: Option<u64>,
    #[serde(borrow)]
    pushed_at: PushedAt<'a>,
}

/// Unix seconds in a push, a time in text form everywhere else.
#[derive(Deserialize)]
#[serde(untagged)]
enum PushedAt<'a> {
    Seconds(i64),
    Text(#[serde(borrow)] Cow<'a, str>),
}

#[derive(Deserialize)]
struct Commit {
    id: String,
}

/// The push in `body`, to a repository of `host`.
pub(super) fn parse(body: &[u8], host: &str) -> Result<Delivery, Invalid> {
    let payload: Payload<'_> = from_json("push", body)?;
    let Some(name) = payload.reference.strip_prefix("refs/heads/") else {
        return Ok(Delivery::Other);
    };
    let branch = Branch::parse(name).map_err(|error| Invalid(format!("ref: {error}")))?;
    let before = commit("before", &payload.before)?;
    let after = commit("after", &payload.after)?;
    if before.is_none() && after.is_none() {
        return Err(Invalid("neither before nor after is a commit".to_owned()));
    }
    let commits = payload.commits.iter().rev();
    let commits = commits.map(|id| full_id("commits", id)).collect::<Result<_, _>>()?;
    Ok(Delivery::Push(Push {
        repo: repo_id(&payload.repository.identity, host)?,
        number: payload.repository.id,
        branch,
        before,
        after,
        is_forced: payload.forced,
        commits,
        pushed_at: seconds(&payload.repository.pushed_at)?,
    }))
}

/// A commit; `None` for the zeros that mean no commit.
fn commit(field: &str, text: &str) -> Result<Option<CommitSha>, Invalid> {
    let commit = full_id(field, text)?;
    Ok(commit.as_str().bytes().any(|byte| byte != b'0').then_some(commit))
}

fn full_id(field: &str, text: &str) -> Result<CommitSha, Invalid> {
    let commit = CommitSha::parse(text).ok().filter(|_| matches!(text.len(), 40 | 64));
    commit.ok_or_else(|| Invalid(format!("{field}: not the 40 or 64 hex digits of a commit")))
}

fn seconds(pushed_at: &PushedAt<'_>) -> Result<i64, Invalid> {
    match pushed_at {
        PushedAt::Seconds(seconds) => check_time("repository.pushed_at", *seconds),
        PushedAt::Text(text) => parse_time("repository.pushed_at", text),
    }
}

/// The ids of the last [`MAX_COMMITS`] commits of a list; GitHub lists the newest last.
fn newest_commits<'de, D: Deserializer<'de>>(deserializer: D) -> Result<VecDeque<String>, D::Error> {
    struct Newest;

    impl<'de> Visitor<'de> for Newest {
        type Value = VecDeque<String>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list of commits")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut newest = VecDeque::new();
            while let Some(Commit { id }) = list.next_element()? {
                if newest.len() == MAX_COMMITS {
                    newest.pop_front();
                }
                newest.push_back(id);
            }
            Ok(newest)
        }
    }

    deserializer.deserialize_seq(Newest)
}

#[cfg(test)]
mod tests;

//! Pending changes: `modules/pending.lua`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::keys;
use super::scripts::SETTLE_PENDING;
use crate::builds;
use crate::read::{Read, parse_json};
use crate::reply::Counted;
use crate::request_keys::Keys;
use coord_domain::{Branch, LockEntry, RepoId};
use coord_store::{Request, Store, StoreError, Value};

/// A change on a work branch that is not yet on the branch that it is for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PendingEntry {
    /// The lock as it was released; its `agent_head` is the pushed commit, and its `expiry` that of the change.
    #[serde(flatten)]
    pub entry: LockEntry,
    /// The blob of the file at that commit; empty if the file is gone.
    pub blob: String,
}

/// Pending changes, and when they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingChanges {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// The changes, in no order, with expired ones.
    pub changes: Vec<PendingEntry>,
}

/// Reads the pending changes of `repo`, for all branches.
pub fn pending_changes(repo: &RepoId) -> Read<PendingChanges> {
    let requests = [
        Request::command(["HGETALL", &keys::pending(repo)]),
        Request::command(["TIME"]),
    ];
    Read::new(requests, |[stored, time]| decode(&stored, &time))
}

fn decode(stored: &Value, time: &Value) -> Result<PendingChanges, StoreError> {
    let malformed = || StoreError::Malformed("the pending changes of a repository".to_owned());
    let now = time.as_array().and_then(|time| time.first()?.as_int());
    let mut changes = Vec::new();
    for [field, value] in stored.as_pairs().ok_or_else(malformed)? {
        let (field, value) = field.as_str().zip(value.as_str()).ok_or_else(malformed)?;
        // Counts and numbers of pull requests.
        if field.starts_with('\n') {
            continue;
        }
        let of_file: Vec<PendingEntry> = parse_json(value.as_bytes())?;
        changes.extend(of_file);
    }
    Ok(PendingChanges {
        now: now.ok_or_else(malformed)?,
        changes,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingAct<'a> {
    /// The branch has the files of this commit now, or never will.
    End { commit: &'a str, paths: &'a [String] },
    /// The work branch was deleted, or its pull request closed.
    EndAll {
        /// When, in Unix seconds. Changes that were released later stay.
        at: i64,
    },
    /// The work branch has an open pull request.
    PullRequest(u64),
    /// In this commit, these files have other interfaces than on the branch.
    Interfaces {
        commit: &'a str,
        /// File path -> differences.
        changed: &'a BTreeMap<String, String>,
    },
    /// The expired changes of the branch are forgotten.
    Forget,
}

/// Arguments of `settle_pending.lua`.
#[derive(Default, Serialize)]
struct SettlePendingArgs<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
    work_branch: &'a str,
    act: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differs: Option<&'a BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<i64>,
    paths: Vec<&'a str>,
}

/// Settles the pending changes on `work_branch` for `branch`, or for all branches. Returns how many were ended or changed.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn settle_pending(
    store: &dyn Store,
    repo: &RepoId,
    branch: Option<&Branch>,
    work_branch: &str,
    act: PendingAct<'_>,
) -> Result<u64, StoreError> {
    let mut request = SettlePendingArgs {
        branch: branch.map(Branch::as_str),
        work_branch,
        act: "END",
        ..SettlePendingArgs::default()
    };
    match act {
        PendingAct::End { commit, paths } => {
            request.commit = Some(commit);
            request.paths = paths.iter().map(String::as_str).collect();
        }
        PendingAct::EndAll { at } => request.at = Some(at),
        PendingAct::PullRequest(number) => (request.act, request.number) = ("NUMBER", Some(number)),
        PendingAct::Interfaces { commit, changed } => {
            (request.act, request.commit, request.differs) = ("INTERFACES", Some(commit), Some(changed));
            request.paths = changed.keys().map(String::as_str).collect();
        }
        PendingAct::Forget => request.act = "FORGET",
    }
    let mut keys = Keys::of([("pending", keys::pending(repo))]);
    if let Some(branch) = branch {
        keys.add([("graph", builds::keys::graph(repo, branch))]);
    }
    let reply = keys.call(store, &SETTLE_PENDING, &request).await?;
    reply.object_of("SETTLED").map(|settled: Counted| settled.count)
}

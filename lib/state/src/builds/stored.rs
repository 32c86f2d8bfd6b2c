//! A stored graph: how long it is kept, and its reads.

use serde::Serialize;

use super::keys;
use super::scripts::{DISCARD_GRAPH, TOUCH_GRAPH};
use crate::read::Read;
use crate::request_keys::Keys;
use coord_domain::{Branch, RepoId};
use coord_store::{Request, Store, StoreError, Value};

/// The facts in the hash of a graph. A missing graph has no field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphHash {
    /// The commit of the graph.
    pub version: Option<String>,
    /// When it was published, Unix seconds.
    pub generated_at: Option<i64>,
    /// Why the latest build failed.
    pub failure: Option<String>,
    /// The progress that the builder has reported, as JSON.
    pub progress: Option<String>,
    /// When the builder's lease ends, Unix seconds.
    pub lease_until: Option<i64>,
    /// When the graph was last in use, Unix seconds.
    pub asked_at: Option<i64>,
    /// The text of the policy, if there is one.
    pub policy: Option<String>,
}

/// Reads the facts in the hash of a graph.
pub fn graph_hash(repo: &RepoId, branch: &Branch) -> Read<GraphHash> {
    let request = Request::command([
        "HMGET",
        &keys::graph(repo, branch),
        "version",
        "generated_at",
        "failure",
        "progress",
        "lease_until",
        "asked_at",
        "policy",
    ]);
    Read::new([request], |[graph]| {
        let text = |index: usize| graph.as_array().and_then(|values| values.get(index)?.as_str());
        let number = |index: usize| text(index).and_then(|text| text.parse().ok());
        Ok(GraphHash {
            version: text(0).filter(|version| !version.is_empty()).map(str::to_owned),
            generated_at: number(1),
            failure: text(2).map(str::to_owned),
            progress: text(3).map(str::to_owned),
            lease_until: number(4),
            asked_at: number(5),
            policy: text(6).map(str::to_owned),
        })
    })
}

/// Reads the graph stored at `key`; a missing one is empty.
pub fn graph_json(key: &str) -> Read<Vec<u8>> {
    Read::new([Request::command(["GET", key])], |[text]| match text {
        Value::Bulk(text) => Ok(text),
        _ => Ok(Vec::new()),
    })
}

/// The digest of the policy of a branch, and its text; both empty where there is none. One round trip.
///
/// # Errors
/// When the store does not respond.
pub async fn stored_policy(store: &dyn Store, repo: &RepoId, branch: &Branch) -> Result<(String, String), StoreError> {
    let request = Request::command(["HMGET", &keys::graph(repo, branch), "policy_digest", "policy"]);
    match store.run(vec![request]).await?.pop() {
        Some(Value::Error(error)) => Err(StoreError::Failed(error)),
        reply => {
            let values = reply.as_ref().and_then(Value::as_array).unwrap_or_default();
            let text = |index: usize| values.get(index).and_then(Value::as_str).unwrap_or_default().to_owned();
            Ok((text(0), text(1)))
        }
    }
}

/// The stored records of files, group by group, each in the order of its paths; `None` where a file has none. One round trip.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn stored_records(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    groups: &[&[&str]],
) -> Result<Vec<Vec<Option<String>>>, StoreError> {
    let key = keys::graph_scan(repo, branch);
    let batch = groups.iter().map(|paths| {
        let words = ["HMGET", &key].into_iter().chain(paths.iter().copied());
        Request::Command(words.map(|word| word.as_bytes().to_vec()).collect())
    });
    let replies = store.run(batch.collect()).await?;
    let records = replies.into_iter().map(|reply| match reply {
        Value::Error(error) => Err(StoreError::Failed(error)),
        reply => {
            let values = reply.as_array().unwrap_or_default();
            Ok(values.iter().map(|value| value.as_str().map(str::to_owned)).collect())
        }
    });
    records.collect()
}

/// Records a request for the graph of a branch, so that the graph is kept. Once a day is enough.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn touch_graph(store: &dyn Store, repo: &RepoId, branch: &Branch) -> Result<(), StoreError> {
    let keys = keys::graph_with_parts(repo, branch);
    keys.call(store, &TOUCH_GRAPH, &()).await?;
    Ok(())
}

/// Arguments of `discard_graph.lua`.
#[derive(Serialize)]
struct DiscardGraphArgs<'a> {
    commit: &'a str,
}

/// Records that the stored graph of `commit` cannot be read. The next request for it starts a new build.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn discard_graph(store: &dyn Store, repo: &RepoId, branch: &Branch, commit: &str) -> Result<(), StoreError> {
    let keys = Keys::of([("graph", keys::graph(repo, branch))]);
    keys.call(store, &DISCARD_GRAPH, &DiscardGraphArgs { commit }).await?;
    Ok(())
}

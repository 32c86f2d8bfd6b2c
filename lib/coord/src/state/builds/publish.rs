//! A graph on its way into the store: staged in parts, then published whole, or patched.

use super::keys;
use super::scripts::{PATCH_GRAPH, PUBLISH_GRAPH, STAGE_GRAPH};
use crate::domain::{Branch, CommitSha, RepoId};
use crate::state::events;
use crate::state::reply::{arguments, call};
use crate::store::{Store, StoreError};

<<<<<<< HEAD:lib/coord/src/state/builds/publish.rs
/// Seconds that a builder's lease lasts; every report and every staged part renews it.
pub(super) const LEASE_SECONDS: u32 = 60;
=======
/// Seconds of a builder's lease; every report and every staged part renews it.
const LEASE_SECONDS: u32 = 60;

/// The outcome of [`lease_build`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildLease {
    /// The builder has the lease.
    Granted,
    /// The graph of the commit is already stored.
    Current,
    /// Another builder has the lease.
    Busy {
        /// End of the other's lease, Unix seconds.
        until: i64,
    },
    /// The build of this commit has failed recently.
    BackingOff {
        /// Why it failed.
        reason: String,
        /// Time of the next attempt, Unix seconds.
        until: i64,
    },
}
>>>>>>> 86c9e4d (state: say in plain words what scripts and typed calls do):lib/coord/src/state/builds/build.rs

/// A part of a graph to stage. Each must fit a request: a few megabytes.
#[derive(Clone, Debug)]
pub enum StagedPart {
    /// Empties the staging key; always first.
    Begin,
    /// Fields and values, alternating.
    Hash(Vec<Vec<u8>>),
    /// Bytes, and their offset.
    Text {
        /// Number of bytes before them.
        offset: usize,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// The outcome of staging or publishing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// Written.
    Done,
    /// Another builder has the lease.
    LeaseLost,
    /// The patch does not fit: the stored graph is of another commit than its base.
    Rebased,
}

/// The difference from the stored graph of `base` to another: fields and values, alternating, and fields to delete.
#[derive(Clone, Debug, Default)]
pub struct GraphPatch {
    /// The commit of the stored graph.
    pub base: String,
    /// Adjacency fields with their values, alternating.
    pub adjacency: Vec<String>,
    /// Adjacency fields to delete.
    pub adjacency_gone: Vec<String>,
    /// Scan fields with their values, alternating.
    pub scan: Vec<String>,
    /// Scan fields to delete.
    pub scan_gone: Vec<String>,
}

impl GraphPatch {
    /// Approximate bytes in a request.
    pub fn size(&self) -> usize {
        self.parts()
            .iter()
            .flat_map(|part| part.iter())
            .map(|text| text.len() + 16)
            .sum()
    }

    fn parts(&self) -> [&Vec<String>; 4] {
        [&self.adjacency, &self.adjacency_gone, &self.scan, &self.scan_gone]
    }
}

<<<<<<< HEAD:lib/coord/src/state/builds/publish.rs
/// Writes a part of the graph that will replace the one at `key`.
=======
/// Leases the build of `commit` to `builder`, a name that no other process has.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn lease_build(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
) -> Result<BuildLease, StoreError> {
    let args = arguments([builder, commit.as_str(), &LEASE_SECONDS.to_string()]);
    let mut reply = call(store, &LEASE_BUILD, vec![keys::graph(repo, branch)], args).await?;
    match reply.outcome.as_str() {
        "GRANTED" => Ok(BuildLease::Granted),
        "CURRENT" => Ok(BuildLease::Current),
        "BUSY" => {
            reply.text()?;
            Ok(BuildLease::Busy { until: reply.number()? })
        }
        "BACKING_OFF" => Ok(BuildLease::BackingOff {
            reason: reply.text()?,
            until: reply.number()?,
        }),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// Records that the graph of a branch is in use, so that it is kept. Once a day is enough.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn touch_graph(store: &dyn Store, repo: &RepoId, branch: &Branch) -> Result<(), StoreError> {
    call(store, &TOUCH_GRAPH, keys::graph_with_parts(repo, branch), Vec::new()).await?;
    Ok(())
}

/// Reports the progress of a build to all subscribers, and renews its lease.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn report_build(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    progress: BuildProgress,
) -> Result<Published, StoreError> {
    let counts = [progress.files, progress.wanted, progress.scanned].map(|count| count.to_string());
    let [files, wanted, scanned] = &counts;
    let lease = LEASE_SECONDS.to_string();
    let args = arguments([builder, &lease, branch.as_str(), files, wanted, scanned]);
    let keys = vec![keys::graph(repo, branch), events::keys::events(repo)];
    let reply = call(store, &REPORT_BUILD, keys, args).await?;
    match reply.outcome.as_str() {
        "REPORTED" => Ok(Published::Done),
        "LOST" => Ok(Published::LeaseLost),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// Stages a part of the graph that will replace the one at `key`.
>>>>>>> 86c9e4d (state: say in plain words what scripts and typed calls do):lib/coord/src/state/builds/build.rs
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn stage_graph(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    key: &str,
    part: StagedPart,
) -> Result<Published, StoreError> {
    let lease = LEASE_SECONDS.to_string();
    let args = match part {
        StagedPart::Begin => arguments([builder, &lease, "BEGIN"]),
        StagedPart::Hash(pairs) => arguments([builder, &lease, "HASH"]).into_iter().chain(pairs).collect(),
        StagedPart::Text { offset, bytes } => arguments([builder, &lease, "STRING", &offset.to_string()])
            .into_iter()
            .chain([bytes])
            .collect(),
    };
    let keys = vec![keys::graph(repo, branch), keys::staging(key)];
    let reply = call(store, &STAGE_GRAPH, keys, args).await?;
    match reply.outcome.as_str() {
        "STAGED" => Ok(Published::Done),
        "LOST" => Ok(Published::LeaseLost),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// Replaces `live_keys` by their staged values, atomically. `fields` go into the graph's own hash.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn publish_graph(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
    live_keys: &[String],
    fields: &[(&str, String)],
) -> Result<Published, StoreError> {
    let mut keys = vec![
        keys::graph(repo, branch),
        events::keys::status_log(repo),
        events::keys::events(repo),
    ];
    keys.extend(live_keys.iter().flat_map(|key| [key.clone(), keys::staging(key)]));
    let mut args = arguments([builder, branch.as_str(), commit.as_str()]);
    args.extend(
        fields
            .iter()
            .flat_map(|(name, value)| [name.as_bytes().to_vec(), value.as_bytes().to_vec()]),
    );
    let reply = call(store, &PUBLISH_GRAPH, keys, args).await?;
    match reply.outcome.as_str() {
        "PUBLISHED" => Ok(Published::Done),
        "LOST" => Ok(Published::LeaseLost),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// Applies `patch` and publishes the staged JSON, atomically. `fields` go into the graph's own hash.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn patch_graph(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
    patch: &GraphPatch,
    fields: &[(&str, String)],
) -> Result<Published, StoreError> {
    let json = keys::graph_json(repo, branch);
    let keys = vec![
        keys::graph(repo, branch),
        events::keys::status_log(repo),
        events::keys::events(repo),
        json.clone(),
        keys::staging(&json),
        keys::graph_adjacency(repo, branch),
        keys::graph_scan(repo, branch),
    ];
    let mut args = arguments([builder, branch.as_str(), commit.as_str(), &patch.base]);
    args.push((fields.len() * 2).to_string().into_bytes());
    args.extend(patch.parts().iter().map(|part| part.len().to_string().into_bytes()));
    args.extend(
        fields
            .iter()
            .flat_map(|(name, value)| [name.as_bytes().to_vec(), value.as_bytes().to_vec()]),
    );
    args.extend(
        patch
            .parts()
            .iter()
            .flat_map(|part| part.iter().map(|text| text.as_bytes().to_vec())),
    );
    let reply = call(store, &PATCH_GRAPH, keys, args).await?;
    match reply.outcome.as_str() {
        "PUBLISHED" => Ok(Published::Done),
        "LOST" => Ok(Published::LeaseLost),
        "REBASED" => Ok(Published::Rebased),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}
<<<<<<< HEAD:lib/coord/src/state/builds/publish.rs
=======

/// Records that the build of `commit` failed, and returns the lease.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn fail_build(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
    reason: &str,
) -> Result<(), StoreError> {
    let args = arguments([builder, commit.as_str(), reason]);
    call(store, &FAIL_BUILD, vec![keys::graph(repo, branch)], args).await?;
    Ok(())
}

/// Returns the lease of `builder`, if it still has it.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn return_lease(store: &dyn Store, repo: &RepoId, branch: &Branch, builder: &str) -> Result<(), StoreError> {
    let keys = vec![keys::graph(repo, branch)];
    call(store, &RETURN_LEASE, keys, arguments([builder])).await?;
    Ok(())
}

/// Records that the stored graph of `commit` cannot be read. The next request for it causes a new build.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn discard_graph(store: &dyn Store, repo: &RepoId, branch: &Branch, commit: &str) -> Result<(), StoreError> {
    let keys = vec![keys::graph(repo, branch)];
    call(store, &DISCARD_GRAPH, keys, arguments([commit])).await?;
    Ok(())
}
>>>>>>> 86c9e4d (state: say in plain words what scripts and typed calls do):lib/coord/src/state/builds/build.rs

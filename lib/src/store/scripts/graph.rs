use super::reply::{arguments, call};
use super::{FAIL_BUILD, LEASE_BUILD, PUBLISH_GRAPH, STAGE_GRAPH};
use crate::domain::{Branch, CommitSha, RepoId};
use crate::store::{Store, StoreError, keys};

/// Seconds that a builder's lease lasts; every staged part renews it.
const LEASE_SECONDS: u32 = 60;

/// Whether this builder may build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildLease {
    /// It may.
    Granted,
    /// There is nothing to build.
    Current,
    /// Another is at it, until then (Unix seconds) at the latest.
    Busy {
        /// When the other's lease ends.
        until: i64,
    },
    /// The build of this commit has just failed.
    BackingOff {
        /// Why it failed.
        reason: String,
        /// When it may be tried again, Unix seconds.
        until: i64,
    },
}

/// A part of a graph on its way to the store. Each must fit a request: a few megabytes.
#[derive(Clone, Debug)]
pub enum StagedPart {
    /// Empties the place; always first.
    Begin,
    /// Fields and values, in turn.
    Hash(Vec<Vec<u8>>),
    /// Bytes to append.
    Text(Vec<u8>),
}

/// What became of a staged or published graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// Written.
    Done,
    /// Another builder has taken over.
    LeaseLost,
}

/// Asks to be the one that builds `commit`. `builder` is a name that no other process has.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
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

/// Writes a part of the graph that will replace the one at `key`.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
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
        StagedPart::Text(text) => arguments([builder, &lease, "STRING"])
            .into_iter()
            .chain([text])
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

/// Puts what was staged for `live_keys` in their place, all at once. `fields` go into the graph's own hash.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn publish_graph(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
    live_keys: &[String],
    fields: &[(&str, String)],
) -> Result<Published, StoreError> {
    let mut keys = vec![keys::graph(repo, branch), keys::status_log(repo), keys::events(repo)];
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

/// Notes that the build of `commit` failed, and gives the lease back.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
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

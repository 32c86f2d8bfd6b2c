//! A graph on its way into the store: staged in parts, then published whole, or patched.

use super::keys;
use super::scripts::{PATCH_GRAPH, PUBLISH_GRAPH, STAGE_GRAPH};
use crate::domain::{Branch, CommitSha, RepoId};
use crate::state::events;
use crate::state::reply::{arguments, call};
use crate::store::{Store, StoreError};

/// Seconds that a builder's lease lasts; every report and every staged part renews it.
pub(super) const LEASE_SECONDS: u32 = 60;

/// A part of a graph on its way to the store. Each must fit a request: a few megabytes.
#[derive(Clone, Debug)]
pub enum StagedPart {
    /// Empties the place; always first.
    Begin,
    /// Fields and values, in turn.
    Hash(Vec<Vec<u8>>),
    /// Bytes, and where they begin.
    Text {
        /// How many bytes stand before them.
        offset: usize,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// What became of a staged or published graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// Written.
    Done,
    /// Another builder has taken over.
    LeaseLost,
    /// A patch does not fit: the stored graph is of another commit than the patch is for.
    Rebased,
}

/// What turns the stored graph of `base` into another: fields and values in turn, and fields to delete.
#[derive(Clone, Debug, Default)]
pub struct GraphPatch {
    /// The commit of the stored graph.
    pub base: String,
    /// Adjacency fields with their values, in turn.
    pub adjacency: Vec<String>,
    /// Adjacency fields to delete.
    pub adjacency_gone: Vec<String>,
    /// Scan fields with their values, in turn.
    pub scan: Vec<String>,
    /// Scan fields to delete.
    pub scan_gone: Vec<String>,
}

impl GraphPatch {
    /// Bytes that it takes on its way to the store, roughly.
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

/// Applies `patch` and puts the staged JSON in its place, all at once. `fields` go into the graph's own hash.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
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

//! A graph on its way into the store: staged in parts, then published whole, or patched.

use super::keys;
use super::scripts::{PATCH_GRAPH, PUBLISH_GRAPH, STAGE_GRAPH};
use crate::domain::{Branch, CommitSha, RepoId};
use crate::state::events;
use crate::state::reply::{arguments, call};
use crate::store::{Store, StoreError};

/// Seconds that a builder's lease lasts; every report and every staged part renews it.
pub(super) const LEASE_SECONDS: u32 = 60;

/// A part of a graph to stage. Each must fit a request: a few megabytes.
#[derive(Clone, Debug)]
pub enum StagedPart {
    /// Empties the staging key; always first.
    Begin,
    /// Fields and values.
    Hash {
        /// Number of fields before them, all of other names.
        before: usize,
        /// Fields and values, alternating.
        pairs: Vec<Vec<u8>>,
    },
    /// Bytes, and their offset.
    Text {
        /// Number of bytes before them.
        offset: usize,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl StagedPart {
    /// Number of fields or bytes up to its end.
    pub fn end(&self) -> usize {
        match self {
            StagedPart::Begin => 0,
            StagedPart::Hash { before, pairs } => before + pairs.len() / 2,
            StagedPart::Text { offset, bytes } => offset + bytes.len(),
        }
    }
}

/// How much of a part of the graph is staged, once it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagedSize {
    /// Fields of a hash.
    Fields(usize),
    /// Bytes of a text.
    Bytes(usize),
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
    /// The store has lost some of what was staged; nothing is published.
    Torn,
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
    /// Bytes of the staged JSON.
    pub json_bytes: usize,
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

/// Writes a part of the graph that will replace the one at `key`.
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
        StagedPart::Hash { before, pairs } => arguments([builder, &lease, "HASH", &before.to_string()])
            .into_iter()
            .chain(pairs)
            .collect(),
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
        "TORN" => Ok(Published::Torn),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// Replaces the live keys of `parts` by their staged values of that size, atomically. `fields` go into the graph's own hash.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn publish_graph(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
    parts: &[(String, StagedSize)],
    fields: &[(&str, String)],
) -> Result<Published, StoreError> {
    let mut keys = vec![
        keys::graph(repo, branch),
        events::keys::status_log(repo),
        events::keys::events(repo),
    ];
    keys.extend(parts.iter().flat_map(|(key, _)| [key.clone(), keys::staging(key)]));
    let mut args = arguments([builder, branch.as_str(), commit.as_str()]);
    for (_, size) in parts {
        let (form, size) = match size {
            StagedSize::Fields(fields) => ("HASH", fields),
            StagedSize::Bytes(bytes) => ("STRING", bytes),
        };
        args.extend(arguments([form, &size.to_string()]));
    }
    args.extend(
        fields
            .iter()
            .flat_map(|(name, value)| [name.as_bytes().to_vec(), value.as_bytes().to_vec()]),
    );
    let reply = call(store, &PUBLISH_GRAPH, keys, args).await?;
    match reply.outcome.as_str() {
        "PUBLISHED" => Ok(Published::Done),
        "LOST" => Ok(Published::LeaseLost),
        "TORN" => Ok(Published::Torn),
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
    let json_bytes = patch.json_bytes.to_string();
    let mut args = arguments([builder, branch.as_str(), commit.as_str(), &patch.base, &json_bytes]);
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
        "TORN" => Ok(Published::Torn),
        "REBASED" => Ok(Published::Rebased),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

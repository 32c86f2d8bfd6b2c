//! A graph on its way into the store: staged in parts, then published whole, or patched.

use serde::Serialize;

use super::keys;
use super::scripts::{PATCH_GRAPH, PUBLISH_GRAPH, STAGE_GRAPH};
use crate::events;
use crate::reply::call;
use crate::request_keys::Keys;
use coord_domain::{Branch, CommitSha, RepoId};
use coord_store::{Store, StoreError};

/// Seconds that a builder's lease lasts; every report and every staged part renews it.
pub(super) const LEASE_SECONDS: u32 = 60;

/// A part of a graph to stage. Each must fit a request: a few megabytes.
#[derive(Clone, Debug)]
pub enum StagedPart {
    /// Empties the staging key; always first.
    Begin,
    /// Fields and values.
    Hash {
        /// Number of fields before them, with other names.
        before: usize,
        /// Fields and values, alternating.
        pairs: Vec<Vec<u8>>,
    },
    /// Bytes, and their offset.
    Text {
        /// Number of bytes before them.
        offset: usize,
        bytes: Vec<u8>,
    },
}

impl StagedPart {
    /// Number of fields or bytes up to the end of this part.
    pub fn end(&self) -> usize {
        match self {
            StagedPart::Begin => 0,
            StagedPart::Hash { before, pairs } => before + pairs.len() / 2,
            StagedPart::Text { offset, bytes } => offset + bytes.len(),
        }
    }
}

/// The size of a part of the graph that is staged completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "form", content = "size")]
pub enum StagedSize {
    /// Fields of a hash.
    #[serde(rename = "HASH")]
    Fields(usize),
    /// Bytes of a text.
    #[serde(rename = "STRING")]
    Bytes(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishOutcome {
    /// Written.
    Done,
    /// Another builder has the lease.
    LeaseLost,
    /// The patch does not fit: the stored graph is of another commit than its base.
    Rebased,
    /// The store has lost some staged parts; nothing is published.
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

/// Arguments of `stage_graph.lua` before the part itself.
#[derive(Serialize)]
struct StageGraphArgs<'a> {
    builder: &'a str,
    lease: u32,
    form: &'static str,
    before: usize,
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
) -> Result<PublishOutcome, StoreError> {
    let (form, before, values) = match part {
        StagedPart::Begin => ("BEGIN", 0, Vec::new()),
        StagedPart::Hash { before, pairs } => ("HASH", before, pairs),
        StagedPart::Text { offset, bytes } => ("STRING", offset, vec![bytes]),
    };
    let keys = Keys::of([("graph", keys::graph(repo, branch)), ("staging", keys::staging(key))]);
    let mut args = keys.args(&StageGraphArgs {
        builder,
        lease: LEASE_SECONDS,
        form,
        before,
    });
    args.extend(values);
    let reply = call(store, &STAGE_GRAPH, keys, args).await?;
    match reply.outcome.as_str() {
        "STAGED" => Ok(PublishOutcome::Done),
        "LOST" => Ok(PublishOutcome::LeaseLost),
        "TORN" => Ok(PublishOutcome::Torn),
        _ => reply.unknown(),
    }
}

/// KEYS of a script that announces a new graph.
fn announcement_keys(repo: &RepoId, branch: &Branch) -> Keys {
    Keys::of([
        ("graph", keys::graph(repo, branch)),
        ("status_log", events::keys::status_log(repo)),
        ("events", events::keys::events(repo)),
    ])
}

fn words<'a>(fields: &'a [(&str, String)]) -> impl Iterator<Item = Vec<u8>> + 'a {
    let pairs = fields.iter().flat_map(|(name, value)| [*name, value.as_str()]);
    pairs.map(|word| word.as_bytes().to_vec())
}

/// Arguments of `publish_graph.lua` before the fields of the graph.
#[derive(Serialize)]
struct PublishGraphArgs<'a> {
    builder: &'a str,
    branch: &'a str,
    commit: &'a str,
    parts: Vec<StagedSize>,
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
) -> Result<PublishOutcome, StoreError> {
    let named_keys = announcement_keys(repo, branch);
    let mut args = named_keys.args(&PublishGraphArgs {
        builder,
        branch: branch.as_str(),
        commit: commit.as_str(),
        parts: parts.iter().map(|(_, size)| *size).collect(),
    });
    args.extend(words(fields));
    let mut keys: Vec<String> = named_keys.into();
    keys.extend(parts.iter().flat_map(|(key, _)| [key.clone(), keys::staging(key)]));
    let reply = call(store, &PUBLISH_GRAPH, keys, args).await?;
    match reply.outcome.as_str() {
        "PUBLISHED" => Ok(PublishOutcome::Done),
        "LOST" => Ok(PublishOutcome::LeaseLost),
        "TORN" => Ok(PublishOutcome::Torn),
        _ => reply.unknown(),
    }
}

/// Arguments of `patch_graph.lua` before the values of the patch.
#[derive(Serialize)]
struct PatchGraphArgs<'a> {
    builder: &'a str,
    branch: &'a str,
    commit: &'a str,
    base: &'a str,
    json_bytes: usize,
    counts: Counts,
}

#[derive(Serialize)]
struct Counts {
    fields: usize,
    adjacency: usize,
    adjacency_gone: usize,
    scan: usize,
    scan_gone: usize,
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
) -> Result<PublishOutcome, StoreError> {
    let json = keys::graph_json(repo, branch);
    let mut keys = announcement_keys(repo, branch);
    keys.add([
        ("staging", keys::staging(&json)),
        ("graph_json", json),
        ("adjacency", keys::graph_adjacency(repo, branch)),
        ("graph_scan", keys::graph_scan(repo, branch)),
    ]);
    let mut args = keys.args(&PatchGraphArgs {
        builder,
        branch: branch.as_str(),
        commit: commit.as_str(),
        base: &patch.base,
        json_bytes: patch.json_bytes,
        counts: Counts {
            fields: fields.len() * 2,
            adjacency: patch.adjacency.len(),
            adjacency_gone: patch.adjacency_gone.len(),
            scan: patch.scan.len(),
            scan_gone: patch.scan_gone.len(),
        },
    });
    args.extend(words(fields));
    args.extend(
        patch
            .parts()
            .iter()
            .flat_map(|part| part.iter().map(|text| text.as_bytes().to_vec())),
    );
    let reply = call(store, &PATCH_GRAPH, keys, args).await?;
    match reply.outcome.as_str() {
        "PUBLISHED" => Ok(PublishOutcome::Done),
        "LOST" => Ok(PublishOutcome::LeaseLost),
        "TORN" => Ok(PublishOutcome::Torn),
        "REBASED" => Ok(PublishOutcome::Rebased),
        _ => reply.unknown(),
    }
}

//! Publishes a built graph: in full, or as a patch.

use std::sync::Arc;

use super::error::BuildError;
use super::job::{Job, LastBuild};
use super::stored_graph::StoredGraph;
use super::stored_ignore::StoredIgnore;
use super::stored_policy;
use coord_domain::CommitSha;
use coord_graph::Snapshot;
use coord_state as state;
use coord_state::builds::{
    GraphPatch, PublishOutcome, StagedPart, StagedSize, patch_graph, publish_graph, stage_graph,
};
use coord_store::{Store, StoreError};

/// Maximum bytes of one staged part. Upstash accepts 10 MB per request; JSON escapes can double a part.
const PART_BYTES: usize = 2 * 1024 * 1024;

/// Maximum number of values of one staged part.
const PART_VALUES: usize = 4000;

/// Maximum size of a patch, which is one script. Larger changes are staged in full, so that no script blocks the store
/// for long.
const PATCH_BYTES: usize = 1024 * 1024;

/// How often a graph is staged if the store loses parts of it meanwhile. A Redis can, if it ends before it has synced
/// its log.
const ATTEMPTS: usize = 3;

/// Replaces the stored graph with `built`. `last` is the stored graph, if this process built it.
pub(super) async fn publish(
    store: &dyn Store,
    job: Job<'_>,
    built: &LastBuild,
    last: Option<&LastBuild>,
) -> Result<PublishOutcome, BuildError> {
    let Job {
        repo, branch, commit, ..
    } = job;
    let (graph, version) = (Arc::clone(built.snapshot.graph()), commit.to_string());
    let json = tokio::task::spawn_blocking(move || StoredGraph::new(&graph, version).encode()).await;
    let json = json.map_err(|error| BuildError::Encoding(error.to_string()))?;
    let json = json.map_err(|error| BuildError::Encoding(error.to_string()))?;
    for _ in 0..ATTEMPTS {
        let published = stage_and_publish(store, job, built, last, &json).await?;
        if published != PublishOutcome::Torn {
            return Ok(published);
        }
        tracing::warn!(%repo, %branch, "the store has lost a part of a staged graph");
    }
    Err(BuildError::Torn)
}

async fn stage_and_publish(
    store: &dyn Store,
    job: Job<'_>,
    built: &LastBuild,
    last: Option<&LastBuild>,
    json: &[u8],
) -> Result<PublishOutcome, BuildError> {
    let Job {
        repo,
        branch,
        commit,
        builder,
        ..
    } = job;
    let snapshot = &built.snapshot;
    let json_key = state::builds::keys::graph_json(repo, branch);
    let (staged, json_bytes) = stage(store, job, &json_key, text_parts(json)).await?;
    if staged != PublishOutcome::Done {
        return Ok(staged);
    }
    let mut fields = vec![
        ("files", snapshot.graph().len().to_string()),
        ("edges", snapshot.graph().edge_count().to_string()),
    ];
    fields.extend(built.ignore.iter().flat_map(StoredIgnore::fields));
    fields.extend(stored_policy::fields(&built.policy));
    if let Some(patch) = last.map(|last| patch_from(last, built, json_bytes))
        && patch.size() <= PATCH_BYTES
    {
        let published = patch_graph(store, repo, branch, builder, commit, &patch, &fields).await?;
        if published != PublishOutcome::Rebased {
            return Ok(published);
        }
    }
    let adjacency_key = state::builds::keys::graph_adjacency(repo, branch);
    let adjacency = hash_parts(built.neighbors.adjacency());
    let (staged, adjacency_fields) = stage(store, job, &adjacency_key, adjacency).await?;
    if staged != PublishOutcome::Done {
        return Ok(staged);
    }
    let scan_key = state::builds::keys::graph_scan(repo, branch);
    let records = snapshot
        .records()
        .map(|(path, record)| (path.to_owned(), record.encode()));
    let scans: Vec<_> = hash_parts(records).collect();
    let (staged, scan_fields) = stage(store, job, &scan_key, scans.into_iter()).await?;
    if staged != PublishOutcome::Done {
        return Ok(staged);
    }
    let parts = [
        (json_key, StagedSize::Bytes(json_bytes)),
        (adjacency_key, StagedSize::Fields(adjacency_fields)),
        (scan_key, StagedSize::Fields(scan_fields)),
    ];
    Ok(publish_graph(store, repo, branch, builder, commit, &parts, &fields).await?)
}

/// Stages `parts`. Also returns their total size, in fields or bytes.
async fn stage(
    store: &dyn Store,
    job: Job<'_>,
    key: &str,
    parts: impl Iterator<Item = StagedPart>,
) -> Result<(PublishOutcome, usize), StoreError> {
    let mut size = 0;
    for part in std::iter::once(StagedPart::Begin).chain(parts) {
        size = part.end();
        let staged = stage_graph(store, job.repo, job.branch, job.builder, key, part).await?;
        if staged != PublishOutcome::Done {
            return Ok((staged, size));
        }
    }
    Ok((PublishOutcome::Done, size))
}

fn text_parts(text: &[u8]) -> impl Iterator<Item = StagedPart> {
    let parts = text.chunks(PART_BYTES).enumerate();
    parts.map(|(number, part)| StagedPart::Text {
        offset: number * PART_BYTES,
        bytes: part.to_vec(),
    })
}

/// Splits fields and values, which contain no field twice, into parts that each fit in one request.
fn hash_parts(pairs: impl Iterator<Item = (String, String)>) -> impl Iterator<Item = StagedPart> {
    let (mut pairs, mut before) = (pairs.peekable(), 0);
    std::iter::from_fn(move || {
        let (mut part, mut bytes) = (Vec::new(), 0);
        while let Some((field, value)) = pairs.next_if(|(field, value)| {
            bytes += field.len() + value.len();
            part.is_empty() || (bytes <= PART_BYTES && part.len() < PART_VALUES)
        }) {
            part.push(field.into_bytes());
            part.push(value.into_bytes());
        }
        let part = StagedPart::Hash { before, pairs: part };
        let begins_at = std::mem::replace(&mut before, part.end());
        (before > begins_at).then_some(part)
    })
}

fn patch_from(last: &LastBuild, built: &LastBuild, json_bytes: usize) -> GraphPatch {
    let adjacency = built.neighbors.adjacency_changes(&last.neighbors);
    let (scan, scan_gone) = built.snapshot.changed_records(&last.snapshot);
    GraphPatch {
        base: last.commit.to_string(),
        adjacency: adjacency
            .changed
            .into_iter()
            .flat_map(|(field, value)| [field, value])
            .collect(),
        adjacency_gone: adjacency.gone,
        scan: scan
            .into_iter()
            .flat_map(|(path, record)| [path.to_owned(), record.encode()])
            .collect(),
        scan_gone: scan_gone.into_iter().map(str::to_owned).collect(),
        json_bytes,
    }
}

/// The size of a stored graph, in bytes of fields and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredSize {
    /// The adjacency hash, for the scripts.
    pub adjacency: usize,
    /// The JSON, for the page.
    pub json: usize,
    /// The scans, for the next build.
    pub scans: usize,
}

/// The size that the graph of `snapshot` would have in the store.
///
/// # Errors
/// Never in practice: writing to memory does not fail.
pub fn stored_size(snapshot: &Snapshot, commit: &CommitSha) -> std::io::Result<StoredSize> {
    let graph = snapshot.graph();
    let records = snapshot
        .records()
        .map(|(path, record)| path.len() + record.encode().len());
    Ok(StoredSize {
        adjacency: graph.adjacency().map(|(field, value)| field.len() + value.len()).sum(),
        json: StoredGraph::new(graph, commit.to_string()).encode()?.len(),
        scans: records.sum(),
    })
}

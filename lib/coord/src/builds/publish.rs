//! From a built graph to the stored one: whole, or by what differs.

use std::borrow::Cow;
use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use super::build::build_tree;
use super::previous_records::load_records;
use super::progress_report::Reporter;
use super::stored_graph::{Node, StoredGraph};
use crate::domain::{Branch, CommitSha, RepoId, file_path};
use crate::source::{Source, SourceError, TreeEntry};
use crate::store::scripts::{
    BuildLease, GraphPatch, Published, StagedPart, fail_build, lease_build, patch_graph, publish_graph, stage_graph,
};
use crate::store::{Store, StoreError, keys};
use coord_graph::Snapshot;
use coord_graph::{FileState, ImportGraph};
use coord_graph::{Limits, Previous};

/// Most bytes of one staged part. Upstash takes 10 MB a request; JSON's escapes can double a part.
const PART_BYTES: usize = 2 * 1024 * 1024;

/// Most values of one staged part.
const PART_VALUES: usize = 4000;

/// A patch up to this size is one script; a larger change is staged whole, so that no script holds up the store for long.
const PATCH_BYTES: usize = 1024 * 1024;

/// Why there is no new graph.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The repository could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The store gives no answer.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something that cannot fail did.
    #[error("the graph could not be encoded: {0}")]
    Encoding(String),
    /// It has not ended by the time that it had to.
    #[error("the graph took longer to build than it may")]
    TimeUp,
}

/// A graph as it was last built here, with the commit that it is of.
#[derive(Clone, Debug)]
pub struct Built {
    /// The commit.
    pub commit: CommitSha,
    /// The graph, with all that the next build can use.
    pub snapshot: Arc<Snapshot>,
}

/// Whose branch, at which commit, who builds, and how much that may take.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The repository.
    pub repo: &'a RepoId,
    /// The branch.
    pub branch: &'a Branch,
    /// Its head.
    pub commit: &'a CommitSha,
    /// A name that no other process has.
    pub builder: &'a str,
    /// What the graph may take.
    pub limits: Limits,
}

/// Builds the graph of `job` and puts it in the place of the stored one, unless it is there already or another is at it.
/// `last` is what was built here before, and becomes what was built now.
///
/// # Errors
/// When the repository or the store cannot be read or written. The failure is noted in the store where that is possible.
pub async fn build_and_publish(
    store: Arc<dyn Store>,
    source: &dyn Source,
    job: Job<'_>,
    last: &mut Option<Built>,
) -> Result<BuildLease, BuildError> {
    build_and_publish_until(store, source, job, last, None).await
}

/// The same, ended at `end_by`. A build that is ended then counts as one that has failed.
pub(super) async fn build_and_publish_until(
    store: Arc<dyn Store>,
    source: &dyn Source,
    job: Job<'_>,
    last: &mut Option<Built>,
    end_by: Option<Instant>,
) -> Result<BuildLease, BuildError> {
    let Job {
        repo,
        branch,
        commit,
        builder,
        ..
    } = job;
    let lease = lease_build(&*store, repo, branch, builder, commit).await?;
    if lease != BuildLease::Granted {
        return Ok(lease);
    }
    let building = build_leased(&store, source, job, last);
    let result = match end_by {
        None => building.await,
        Some(end_by) => timeout_at(end_by, building).await.unwrap_or(Err(BuildError::TimeUp)),
    };
    if let Err(error) = &result {
        // What went wrong is for the log; the store, and so the page, get a sentence without paths of this machine.
        let reason = match error {
            BuildError::Source(_) => "the repository could not be read",
            BuildError::Store(_) => "the store could not be written",
            BuildError::Encoding(_) => "the graph could not be encoded",
            BuildError::TimeUp => "it took longer than a build may take here",
        };
        if let Err(error) = fail_build(&*store, repo, branch, builder, commit, reason).await {
            tracing::debug!(%error, "the failure of a build could not be noted");
        }
    }
    match result? {
        // Another has it, or the store has lost it.
        Published::LeaseLost => Ok(BuildLease::Busy { until: 0 }),
        Published::Done | Published::Rebased => Ok(lease),
    }
}

async fn build_leased(
    store: &Arc<dyn Store>,
    source: &dyn Source,
    job: Job<'_>,
    last: &mut Option<Built>,
) -> Result<Published, BuildError> {
    let reporter = Reporter::start(store, job);
    let building = async {
        let tree = in_one_form(source.tree(job.repo, job.commit).await?);
        let previous = match last {
            Some(built) => Previous::Snapshot(Arc::clone(&built.snapshot)),
            None => Previous::Stored(load_records(&**store, job.repo, job.branch, &tree).await?),
        };
        Ok::<_, BuildError>(build_tree(source, job.repo, tree, previous, job.limits, reporter.sink()).await?)
    };
    let snapshot = tokio::select! {
        snapshot = building => Arc::new(snapshot?),
        () = reporter.lost() => {
            tracing::debug!(repo = %job.repo, branch = %job.branch, "a build has lost its lease, and ends");
            return Ok(Published::LeaseLost);
        }
    };
    drop(reporter);
    let published = publish(&**store, job, &snapshot, last.as_ref()).await?;
    if published == Published::LeaseLost {
        tracing::debug!(repo = %job.repo, branch = %job.branch, "another builder has taken over");
    }
    *last = Some(Built {
        commit: job.commit.clone(),
        snapshot,
    });
    Ok(published)
}

/// The files as locks are held on them, so that a lock and the file's imports are found under one name.
fn in_one_form(mut tree: Vec<TreeEntry>) -> Vec<TreeEntry> {
    let mut is_changed = false;
    for entry in &mut tree {
        if let Cow::Owned(path) = file_path::in_one_form(&entry.path) {
            entry.path = path;
            is_changed = true;
        }
    }
    if is_changed {
        tree.sort_by(|one, other| one.path.cmp(&other.path));
        tree.dedup_by(|one, other| one.path == other.path);
    }
    tree
}

async fn publish(
    store: &dyn Store,
    job: Job<'_>,
    snapshot: &Arc<Snapshot>,
    last: Option<&Built>,
) -> Result<Published, BuildError> {
    let Job {
        repo,
        branch,
        commit,
        builder,
        ..
    } = job;
    let (graph, version) = (Arc::clone(snapshot.graph()), commit.to_string());
    let json = tokio::task::spawn_blocking(move || ready_json(&graph, version).encode()).await;
    let json = json.map_err(|error| BuildError::Encoding(error.to_string()))?;
    let json = json.map_err(|error| BuildError::Encoding(error.to_string()))?;
    let json_key = keys::graph_json(repo, branch);
    let json_parts = json
        .chunks(PART_BYTES)
        .enumerate()
        .map(|(number, part)| StagedPart::Text {
            offset: number * PART_BYTES,
            bytes: part.to_vec(),
        });
    if stage(store, job, &json_key, json_parts).await? == Published::LeaseLost {
        return Ok(Published::LeaseLost);
    }
    let fields = [
        ("files", snapshot.graph().len().to_string()),
        ("edges", snapshot.graph().edge_count().to_string()),
    ];
    if let Some(patch) = last.map(|last| patch_from(last, snapshot))
        && patch.size() <= PATCH_BYTES
    {
        let published = patch_graph(store, repo, branch, builder, commit, &patch, &fields).await?;
        if published != Published::Rebased {
            return Ok(published);
        }
    }
    let adjacency_key = keys::graph_adjacency(repo, branch);
    let scan_key = keys::graph_scan(repo, branch);
    let adjacency = in_parts(snapshot.graph().adjacency());
    if stage(store, job, &adjacency_key, adjacency).await? == Published::LeaseLost {
        return Ok(Published::LeaseLost);
    }
    let scans: Vec<_> = in_parts(
        snapshot
            .records()
            .map(|(path, record)| (path.to_owned(), record.encode())),
    )
    .collect();
    if stage(store, job, &scan_key, scans.into_iter()).await? == Published::LeaseLost {
        return Ok(Published::LeaseLost);
    }
    let live = [json_key, adjacency_key, scan_key];
    Ok(publish_graph(store, repo, branch, builder, commit, &live, &fields).await?)
}

/// How much of the store a graph takes, in bytes of fields and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredSize {
    /// The adjacency hash, which the scripts read.
    pub adjacency: usize,
    /// The ready JSON, which the page gets.
    pub json: usize,
    /// The scans, which the next build reads.
    pub scans: usize,
}

/// How much of the store the graph of `snapshot` would take.
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
        json: ready_json(graph, commit.to_string()).encode()?.len(),
        scans: records.sum(),
    })
}

async fn stage(
    store: &dyn Store,
    job: Job<'_>,
    key: &str,
    parts: impl Iterator<Item = StagedPart>,
) -> Result<Published, StoreError> {
    for part in std::iter::once(StagedPart::Begin).chain(parts) {
        let staged = stage_graph(store, job.repo, job.branch, job.builder, key, part).await?;
        if staged != Published::Done {
            return Ok(staged);
        }
    }
    Ok(Published::Done)
}

/// Fields and values, gathered into parts that each fit a request.
fn in_parts(pairs: impl Iterator<Item = (String, String)>) -> impl Iterator<Item = StagedPart> {
    let mut pairs = pairs.peekable();
    std::iter::from_fn(move || {
        let (mut part, mut bytes) = (Vec::new(), 0);
        while let Some((field, value)) = pairs.next_if(|(field, value)| {
            bytes += field.len() + value.len();
            part.is_empty() || (bytes <= PART_BYTES && part.len() < PART_VALUES)
        }) {
            part.push(field.into_bytes());
            part.push(value.into_bytes());
        }
        (!part.is_empty()).then_some(StagedPart::Hash(part))
    })
}

fn patch_from(last: &Built, snapshot: &Snapshot) -> GraphPatch {
    let adjacency = snapshot.graph().adjacency_changes(last.snapshot.graph());
    let (scan, scan_gone) = snapshot.changed_records(&last.snapshot);
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
    }
}

fn ready_json(graph: &ImportGraph, version: String) -> StoredGraph {
    let node = |node: coord_graph::Node<'_>| Node {
        id: node.path.to_owned(),
        language: node.language.map(|language| language.name().to_owned()),
        size: node.size,
        state: (node.state != FileState::Ok).then(|| node.state.name().to_owned()),
    };
    StoredGraph {
        version,
        nodes: graph.nodes().map(node).collect(),
        edges: graph.edges().map(|(from, to, _)| (from, to)).collect(),
        kinds: graph.edges().map(|(_, _, kinds)| kinds.bits()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::EntryKind;

    #[test]
    fn a_file_that_is_tracked_in_decomposed_characters_is_found_by_the_lock_on_it() {
        let entry = |path: &str| TreeEntry {
            path: path.to_owned(),
            blob: "0".repeat(40),
            kind: EntryKind::File,
        };
        let tree = in_one_form(vec![
            entry("gro\u{308}\u{df}e.ts"),
            entry("gr\u{f6}\u{df}e.ts"),
            entry("z.ts"),
        ]);
        let paths: Vec<&str> = tree.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["größe.ts", "z.ts"]);
    }
}

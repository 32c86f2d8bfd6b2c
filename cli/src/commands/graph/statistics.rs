//! Figures about a graph.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::io;
use std::time::Duration;

use anyhow::{Context, bail};
use coord_builds::publish::{StoredSize, stored_size};
use coord_domain::CommitSha;
use coord_graph::{ImportGraph, Reason, Snapshot};
use coord_scan::{FileState, ImportKind};
use serde_json::{Map, Value, json};

use super::args::{GraphArgs, GraphFormat, Kinds};
use super::incomplete::{MissingParts, state_text};

/// Most hubs in the list of the most imported files.
const MAX_HUBS: usize = 10;

/// Fewest importers of a hub.
const MIN_IMPORTERS: usize = 2;

/// Prints the figures, as text or as JSON.
pub(super) fn write(
    out: &mut impl io::Write,
    snapshot: &Snapshot,
    commit: &CommitSha,
    args: &GraphArgs,
    elapsed: Duration,
    incomplete: &MissingParts,
) -> anyhow::Result<()> {
    let stored = stored_size(snapshot, commit)?;
    match args.format {
        None => {
            let mut text = String::new();
            write_figures(&mut text, snapshot, args.kinds, stored)
                .and_then(|()| writeln!(text, "Time                  {:>10.3} s", elapsed.as_secs_f64()))
                .context("the figures cannot be written")?;
            out.write_all(text.as_bytes())?;
        }
        Some(GraphFormat::Json) => {
            let mut figures = to_json(snapshot, commit, args.kinds, stored, incomplete);
            figures["seconds"] = elapsed.as_secs_f64().into();
            writeln!(out, "{figures:#}")?;
        }
        Some(_) => bail!("--stats prints text, or JSON with --format json"),
    }
    Ok(())
}

/// The figures for a program.
fn to_json(
    snapshot: &Snapshot,
    commit: &CommitSha,
    kinds: Kinds,
    stored: StoredSize,
    incomplete: &MissingParts,
) -> Value {
    let graph = snapshot.graph();
    let languages: Map<String, Value> = count_languages(graph)
        .into_iter()
        .map(|(name, (files, bytes))| (name.to_owned(), json!({"files": files, "bytes": bytes})))
        .collect();
    let (edges, by_kind) = count_edges(graph, kinds);
    let by_kind: Map<String, Value> = by_kind
        .into_iter()
        .map(|(kind, count)| (kind.name().to_owned(), count.into()))
        .collect();
    let unresolved: Map<String, Value> = count_unresolved(graph)
        .into_iter()
        .map(|(reason, count)| (reason.name().to_owned(), count.into()))
        .collect();
    let cycles = graph.cycles();
    let hubs: Vec<Value> = graph
        .most_imported(MIN_IMPORTERS, MAX_HUBS)
        .into_iter()
        .map(|(importers, id)| json!({"id": graph.path(id), "importers": importers}))
        .collect();
    json!({
        "version": commit.as_str(),
        "incomplete": incomplete.json(),
        "files": graph.len(),
        "languages": languages,
        "edges": edges,
        "kinds": by_kind,
        "unresolved": unresolved,
        "cycles": {"groups": cycles.len(), "files": cycles.iter().map(Vec::len).sum::<usize>()},
        "most_imported": hubs,
        "stored_bytes": {"adjacency": stored.adjacency, "page": stored.json, "scans": stored.scans},
    })
}

/// The number of files of each language, and their bytes.
fn count_languages(graph: &ImportGraph) -> BTreeMap<&'static str, (usize, u64)> {
    let mut languages: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for node in graph.nodes() {
        if let Some(language) = node.language {
            let (files, bytes) = languages.entry(language.name()).or_default();
            *files += 1;
            *bytes += node.size.unwrap_or_default();
        }
    }
    languages
}

fn write_figures(out: &mut String, snapshot: &Snapshot, kinds: Kinds, stored: StoredSize) -> fmt::Result {
    let graph = snapshot.graph();
    let languages = count_languages(graph);
    let code_files: usize = languages.values().map(|(files, _)| files).sum();
    writeln!(out, "Files                 {:>10}", graph.len())?;
    writeln!(out, "  of code             {code_files:>10}")?;
    for (name, (files, bytes)) in languages {
        writeln!(out, "    {name:<18}{files:>10}   {:>9} kB", bytes.div_ceil(1000))?;
    }
    for state in FileState::ALL {
        let files = graph.count_in_state(state);
        if state != FileState::Ok && files > 0 {
            writeln!(out, "  not scanned     {files:>10}   {}", state_text(state))?;
        }
    }
    let (edges, by_kind) = count_edges(graph, kinds);
    writeln!(out, "Edges                 {edges:>10}")?;
    for (kind, count) in by_kind {
        writeln!(out, "  {:<20}{count:>10}", kind.name())?;
    }
    let unresolved = count_unresolved(graph);
    let total: u64 = unresolved.iter().map(|(_, count)| count).sum();
    writeln!(out, "Imports that lead to no file of the repository {total:>7}")?;
    for (reason, count) in unresolved {
        writeln!(out, "  {:<20}{count:>10}   {}", reason.name(), reason.sentence())?;
    }
    let cycles = graph.cycles();
    let in_cycles: usize = cycles.iter().map(Vec::len).sum();
    writeln!(
        out,
        "Cycles                {:>10}   with {in_cycles} files",
        cycles.len()
    )?;
    let hubs = graph.most_imported(MIN_IMPORTERS, MAX_HUBS);
    if !hubs.is_empty() {
        writeln!(out, "Most imported")?;
    }
    for (importers, id) in hubs {
        writeln!(out, "  {importers:>8} files import {}", graph.path(id))?;
    }
    let StoredSize { adjacency, json, scans } = stored;
    let per_file = |bytes: usize| bytes.div_ceil(graph.len().max(1));
    writeln!(
        out,
        "Stored                {:>10} kB  {} bytes a file: adjacency {}, page {}, scans {}",
        (adjacency + json + scans).div_ceil(1000),
        per_file(adjacency + json + scans),
        per_file(adjacency),
        per_file(json),
        per_file(scans)
    )
}

/// The reasons for which imports lead to no file, each with their number.
fn count_unresolved(graph: &ImportGraph) -> Vec<(Reason, u64)> {
    let counts = Reason::ALL.into_iter().map(|reason| (reason, graph.unresolved(reason)));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// The number of edges, and of the edges of each kind that there is. An edge may have several kinds.
fn count_edges(graph: &ImportGraph, kinds: Kinds) -> (usize, Vec<(ImportKind, usize)>) {
    let mut by_kind = [0_usize; ImportKind::ALL.len()];
    let mut edges = 0;
    for (from, _, set) in graph.edges() {
        let language = graph.node(from).and_then(|node| node.language);
        if !kinds.has(language, set) {
            continue;
        }
        edges += 1;
        for (count, kind) in by_kind.iter_mut().zip(ImportKind::ALL) {
            *count += usize::from(set.contains(kind));
        }
    }
    let by_kind = ImportKind::ALL.into_iter().zip(by_kind);
    (edges, by_kind.filter(|(_, count)| *count > 0).collect())
}

//! Figures about a graph.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::time::Duration;

use anyhow::Context;
use coord::domain::CommitSha;
use coord::graph::publish::{StoredSize, stored_size};
use coord::graph::resolve::Reason;
use coord::graph::scan::ImportKind;
use coord::graph::update::Snapshot;
use coord::graph::{FileState, ImportGraph};

use super::counts;
use crate::cli::Kinds;

/// How many of the most imported files are named.
const HUBS: usize = 10;

/// The whole output.
pub(super) fn text(snapshot: &Snapshot, commit: &CommitSha, kinds: Kinds, elapsed: Duration) -> anyhow::Result<String> {
    let mut out = String::new();
    let stored = stored_size(snapshot, commit)?;
    write_figures(&mut out, snapshot, kinds, stored)
        .and_then(|()| writeln!(out, "Time                  {:>10.3} s", elapsed.as_secs_f64()))
        .context("the figures cannot be written")?;
    Ok(out)
}

fn write_figures(out: &mut String, snapshot: &Snapshot, kinds: Kinds, stored: StoredSize) -> fmt::Result {
    let graph = snapshot.graph();
    let mut languages: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for node in graph.nodes() {
        if let Some(language) = node.language {
            let known = languages.entry(language.name()).or_default();
            known.0 += 1;
            known.1 += node.size.unwrap_or_default();
        }
    }
    let code: usize = languages.values().map(|(files, _)| files).sum();
    writeln!(out, "Files                 {:>10}", graph.len())?;
    writeln!(out, "  of code             {code:>10}")?;
    for (name, (files, bytes)) in languages {
        writeln!(out, "    {name:<18}{files:>10}   {:>9} kB", bytes.div_ceil(1000))?;
    }
    for state in FileState::ALL {
        let files = graph.count_in_state(state);
        if state != FileState::Ok && files > 0 {
            writeln!(out, "  not looked into     {files:>10}   {}", state_text(state))?;
        }
    }
    write_edges(out, graph, kinds)?;
    let resolved: Vec<_> = Reason::ALL
        .into_iter()
        .map(|reason| (reason, graph.unresolved(reason)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let unresolved: u64 = resolved.iter().map(|(_, count)| count).sum();
    writeln!(out, "Imports that lead to no file of the repository {unresolved:>7}")?;
    for (reason, count) in resolved {
        writeln!(out, "  {:<20}{count:>10}   {}", reason.name(), reason.sentence())?;
    }
    let cycles = graph.cycles();
    let in_cycles: usize = cycles.iter().map(Vec::len).sum();
    writeln!(
        out,
        "Cycles                {:>10}   with {in_cycles} files",
        cycles.len()
    )?;
    write_hubs(out, graph)?;
    let StoredSize { adjacency, json, scans } = stored;
    let of_a_file = |bytes: usize| bytes.div_ceil(graph.len().max(1));
    writeln!(
        out,
        "Stored                {:>10} kB  {} bytes a file: adjacency {}, page {}, scans {}",
        (adjacency + json + scans).div_ceil(1000),
        of_a_file(adjacency + json + scans),
        of_a_file(adjacency),
        of_a_file(json),
        of_a_file(scans)
    )
}

fn write_edges(out: &mut String, graph: &ImportGraph, kinds: Kinds) -> fmt::Result {
    let mut by_kind = [0_usize; ImportKind::ALL.len()];
    let mut edges = 0;
    for (from, _, set) in graph.edges() {
        let language = graph.node(from).and_then(|node| node.language);
        if !counts(kinds, language, set) {
            continue;
        }
        edges += 1;
        for (count, kind) in by_kind.iter_mut().zip(ImportKind::ALL) {
            *count += usize::from(set.has(kind));
        }
    }
    writeln!(out, "Edges                 {edges:>10}")?;
    for (count, kind) in by_kind.into_iter().zip(ImportKind::ALL) {
        if count > 0 {
            writeln!(out, "  {:<20}{count:>10}", kind.name())?;
        }
    }
    Ok(())
}

fn write_hubs(out: &mut String, graph: &ImportGraph) -> fmt::Result {
    let mut hubs: Vec<(usize, u32)> = (0..graph.len() as u32)
        .map(|id| (graph.importers(id).len(), id))
        .filter(|(importers, _)| *importers > 1)
        .collect();
    hubs.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    if hubs.is_empty() {
        return Ok(());
    }
    writeln!(out, "Most imported")?;
    for (importers, id) in hubs.into_iter().take(HUBS) {
        writeln!(out, "  {importers:>8} files import {}", graph.path(id))?;
    }
    Ok(())
}

fn state_text(state: FileState) -> &'static str {
    match state {
        FileState::Ok => "read",
        FileState::TooLarge => "too_large: larger than COORD_GRAPH_MAX_FILE_BYTES",
        FileState::Binary => "binary: not text",
        FileState::Minified => "minified: very long lines",
        FileState::Unreadable => "unreadable: not in the object database, or damaged",
        FileState::OverLimit => {
            "over_limit: past COORD_GRAPH_MAX_FILES, COORD_GRAPH_MAX_BYTES or COORD_GRAPH_MAX_IMPORTS"
        }
    }
}

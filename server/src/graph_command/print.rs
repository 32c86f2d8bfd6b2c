//! A graph as text.

use std::fmt::Write;

use anyhow::Context;
use coord::domain::CommitSha;
use coord::graph::{FileState, ImportGraph, KindSet};
use serde_json::json;

use super::counts;
use crate::cli::{GraphFormat, Kinds};

type Edge = (u32, u32, KindSet);

/// The whole output.
pub(super) fn text(
    graph: &ImportGraph,
    commit: &CommitSha,
    format: GraphFormat,
    kinds: Kinds,
) -> anyhow::Result<String> {
    // Edges come file by file.
    let mut known = None;
    let edges = graph.edges().filter(move |(from, _, edge)| {
        let language = match known {
            Some((of, language)) if of == *from => language,
            _ => graph.node(*from).and_then(|node| node.language),
        };
        known = Some((*from, language));
        counts(kinds, language, *edge)
    });
    match format {
        GraphFormat::Tsv => Ok(tsv(graph, edges)),
        GraphFormat::Json => json(graph, commit, edges),
        GraphFormat::Dot => Ok(dot(graph, edges)),
        GraphFormat::Mermaid => Ok(mermaid(graph, edges)),
    }
}

fn tsv(graph: &ImportGraph, edges: impl Iterator<Item = Edge>) -> String {
    let mut out = String::with_capacity(graph.edge_count() * 64);
    for (from, to, _) in edges {
        for (path, end) in [(graph.path(from), '\t'), (graph.path(to), '\n')] {
            if memchr::memchr(b'\t', path.as_bytes()).is_none() {
                out.push_str(path);
            } else {
                // A path with a tab would be read as two. None has a newline.
                out.push_str(&path.replace('\t', "\\t"));
            }
            out.push(end);
        }
    }
    out
}

/// As `GET /api/graph` has it, a line for each node and edge, and with the kinds of each edge.
fn json(graph: &ImportGraph, commit: &CommitSha, edges: impl Iterator<Item = Edge>) -> anyhow::Result<String> {
    let nodes = graph.nodes().map(|node| {
        let mut value = json!({
            "id": node.path,
            "type": "file",
            "language": node.language.map(|language| language.name()),
            "size": node.size,
        });
        if node.state != FileState::Ok {
            value["state"] = node.state.name().into();
        }
        value
    });
    let edges = edges.map(|(from, to, kinds)| {
        json!({
            "source": graph.path(from),
            "target": graph.path(to),
            "type": "import",
            "kinds": kinds.names().collect::<Vec<_>>(),
        })
    });
    let mut out = format!("{{\"version\":\"{commit}\",\"nodes\":[");
    lines(&mut out, nodes)?;
    out.push_str("],\"edges\":[");
    lines(&mut out, edges)?;
    out.push_str("]}\n");
    Ok(out)
}

fn lines(out: &mut String, values: impl Iterator<Item = serde_json::Value>) -> anyhow::Result<()> {
    for (number, value) in values.enumerate() {
        out.push_str(if number > 0 { ",\n" } else { "\n" });
        write!(out, "{value}").context("the graph cannot be written as JSON")?;
    }
    Ok(())
}

/// Only the files that have an edge: a picture of the others would be a heap of boxes.
fn connected(edges: impl Iterator<Item = Edge>) -> (Vec<Edge>, Vec<u32>) {
    let edges: Vec<Edge> = edges.collect();
    let mut files: Vec<u32> = edges.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    files.sort_unstable();
    files.dedup();
    (edges, files)
}

fn dot(graph: &ImportGraph, edges: impl Iterator<Item = Edge>) -> String {
    let quoted = |id: u32| {
        let path = graph.path(id).replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{path}\"")
    };
    let (edges, files) = connected(edges);
    let mut out = String::from("digraph imports {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for id in files {
        // Writing to a String does not fail.
        let _ = writeln!(out, "  {};", quoted(id));
    }
    for (from, to, _) in edges {
        let _ = writeln!(out, "  {} -> {};", quoted(from), quoted(to));
    }
    out.push_str("}\n");
    out
}

fn mermaid(graph: &ImportGraph, edges: impl Iterator<Item = Edge>) -> String {
    // In a quoted label, Mermaid reads entities written with a number sign, and its own Markdown after a backquote.
    let label = |id: u32| {
        graph.path(id).chars().fold(String::new(), |mut label, character| {
            match character {
                '"' | '#' | '&' | '<' | '>' | '`' => {
                    let _ = write!(label, "#{};", character as u32);
                }
                other => label.push(other),
            }
            label
        })
    };
    let (edges, files) = connected(edges);
    let mut out = String::from("flowchart LR\n");
    for id in files {
        let _ = writeln!(out, "  f{id}[\"{}\"]", label(id));
    }
    for (from, to, _) in edges {
        let _ = writeln!(out, "  f{from} --> f{to}");
    }
    out
}

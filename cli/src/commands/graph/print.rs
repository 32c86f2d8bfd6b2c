//! A graph as text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;

use anyhow::bail;
use coord_domain::CommitSha;
use coord_graph::{Direction, FileId, ImportGraph};
use coord_scan::{FileState, KindSet};
use serde_json::{Value, json};

use super::args::{self, GraphArgs, GraphFormat};

type Edge = (FileId, FileId, KindSet);

/// The files around a file, each with its distance in steps.
type Neighborhood = HashMap<FileId, u32>;

/// Prints the graph, or its part around the file at `focus`.
pub(super) fn write(
    out: &mut impl Write,
    graph: &ImportGraph,
    commit: &CommitSha,
    args: &GraphArgs,
    focus: Option<&str>,
    incomplete: &Value,
) -> anyhow::Result<()> {
    let neighborhood: Option<Neighborhood> = focus.and_then(|path| graph.id(path)).map(|id| {
        let direction = match args.direction {
            args::Direction::Both => Direction::Both,
            args::Direction::Imports => Direction::Imports,
            args::Direction::Importers => Direction::Importers,
        };
        let neighborhood = graph.neighborhood(&[id], direction, args.depth, usize::MAX);
        neighborhood.files.into_iter().collect()
    });
    let is_within = |id: FileId| neighborhood.as_ref().is_none_or(|files| files.contains_key(&id));
    let edges = graph.edges().filter(|(from, to, _)| is_within(*from) && is_within(*to));
    match args.format.unwrap_or(GraphFormat::Tsv) {
        GraphFormat::Tsv => write_tsv(out, graph, edges),
        GraphFormat::Json => write_json(out, graph, commit, neighborhood.as_ref(), edges, incomplete),
        format => {
            let edges: Vec<Edge> = edges.take(args.max_edges + 1).collect();
            if edges.len() > args.max_edges {
                bail!(
                    "a picture of more than {} edges is not readable; select a part of the graph (--focus FILE \
                     --depth 1), print tsv or json, or raise --max-edges",
                    args.max_edges
                );
            }
            let text = match format {
                GraphFormat::Mermaid => to_mermaid(graph, edges),
                _ => to_dot(graph, edges),
            };
            out.write_all(text.as_bytes())?;
            Ok(())
        }
    }
}

/// Prints each group of files that import each other in cycles: a line with tabs between its files, or JSON.
pub(super) fn write_cycles(
    out: &mut impl Write,
    graph: &ImportGraph,
    commit: &CommitSha,
    format: GraphFormat,
    incomplete: &Value,
) -> anyhow::Result<()> {
    let cycles = graph.cycles();
    if format == GraphFormat::Json {
        let groups: Vec<Vec<&str>> = cycles
            .iter()
            .map(|group| group.iter().map(|id| graph.path(*id)).collect())
            .collect();
        let output = json!({"version": commit.as_str(), "incomplete": incomplete, "cycles": groups});
        writeln!(out, "{output}")?;
        return Ok(());
    }
    for group in &cycles {
        let line: Vec<_> = group.iter().map(|id| escape(graph.path(*id))).collect();
        writeln!(out, "{}", line.join("\t"))?;
    }
    Ok(())
}

/// Escapes tabs, because tabs separate the paths of a line. No path has a newline.
pub(super) fn escape(path: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\t', path.as_bytes()) {
        None => Cow::Borrowed(path),
        Some(_) => Cow::Owned(path.replace('\t', "\\t")),
    }
}

fn write_tsv(out: &mut impl Write, graph: &ImportGraph, edges: impl Iterator<Item = Edge>) -> anyhow::Result<()> {
    for (from, to, _) in edges {
        for (id, end) in [(from, b"\t"), (to, b"\n")] {
            out.write_all(escape(graph.path(id)).as_bytes())?;
            out.write_all(end)?;
        }
    }
    Ok(())
}

/// The form of `GET /api/graph`, with a line for each node and edge, and the kinds of each edge.
fn write_json(
    out: &mut impl Write,
    graph: &ImportGraph,
    commit: &CommitSha,
    neighborhood: Option<&Neighborhood>,
    edges: impl Iterator<Item = Edge>,
    incomplete: &Value,
) -> anyhow::Result<()> {
    let nodes = (0..).zip(graph.nodes()).filter_map(|(id, node)| {
        let mut value = json!({
            "id": node.path,
            "type": "file",
            "language": node.language.map(|language| language.name()),
            "size": node.size,
        });
        if let Some(neighborhood) = neighborhood {
            value["distance"] = (*neighborhood.get(&id)?).into();
        }
        if node.state != FileState::Ok {
            value["state"] = node.state.name().into();
        }
        Some(value)
    });
    let edges = edges.map(|(from, to, kinds)| {
        json!({
            "source": graph.path(from),
            "target": graph.path(to),
            "type": "import",
            "kinds": kinds.names().collect::<Vec<_>>(),
        })
    });
    write!(
        out,
        "{{\"version\":\"{commit}\",\"incomplete\":{incomplete},\"nodes\":["
    )?;
    write_elements(out, nodes)?;
    write!(out, "],\"edges\":[")?;
    write_elements(out, edges)?;
    writeln!(out, "]}}")?;
    Ok(())
}

/// Writes the elements of a JSON array, a line each.
fn write_elements(out: &mut impl Write, values: impl Iterator<Item = Value>) -> anyhow::Result<()> {
    for (number, value) in values.enumerate() {
        out.write_all(if number > 0 { b",\n" } else { b"\n" })?;
        serde_json::to_writer(&mut *out, &value).map_err(std::io::Error::from)?;
    }
    Ok(())
}

/// The files that have an edge: a picture would show all others as unconnected boxes.
fn connected_files(edges: &[Edge]) -> Vec<FileId> {
    let mut files: Vec<FileId> = edges.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    files.sort_unstable();
    files.dedup();
    files
}

fn to_dot(graph: &ImportGraph, edges: Vec<Edge>) -> String {
    let quoted = |id: FileId| {
        let path = graph.path(id).replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{path}\"")
    };
    let files = connected_files(&edges);
    let mut out = String::from("digraph imports {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for id in files {
        // Writing to a String never fails.
        let _ = writeln!(out, "  {};", quoted(id));
    }
    for (from, to, _) in edges {
        let _ = writeln!(out, "  {} -> {};", quoted(from), quoted(to));
    }
    out.push_str("}\n");
    out
}

fn to_mermaid(graph: &ImportGraph, edges: Vec<Edge>) -> String {
    // In a quoted label, Mermaid interprets entities with a number sign, and Markdown after a backquote.
    let label = |id: FileId| {
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
    let files = connected_files(&edges);
    let mut out = String::from("flowchart LR\n");
    for id in files {
        let _ = writeln!(out, "  f{id}[\"{}\"]", label(id));
    }
    for (from, to, _) in edges {
        let _ = writeln!(out, "  f{from} --> f{to}");
    }
    out
}

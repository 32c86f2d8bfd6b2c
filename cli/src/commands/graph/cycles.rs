//! Files that import each other in circles.

use std::io::Write;

use coord_domain::CommitSha;
use coord_graph::ImportGraph;
use serde_json::json;

use super::args::GraphFormat;
use super::print::escape;

/// Prints each group of files that import each other: a line with tabs between its files, or JSON.
pub(super) fn write(
    out: &mut impl Write,
    graph: &ImportGraph,
    commit: &CommitSha,
    format: GraphFormat,
    incomplete: &serde_json::Value,
) -> anyhow::Result<()> {
    let cycles = graph.cycles();
    let paths = |group: &[u32]| -> Vec<String> { group.iter().map(|id| graph.path(*id).to_owned()).collect() };
    if format == GraphFormat::Json {
        let groups: Vec<Vec<String>> = cycles.iter().map(|group| paths(group)).collect();
        let all = json!({"version": commit.as_str(), "incomplete": incomplete, "cycles": groups});
        writeln!(out, "{all}")?;
        return Ok(());
    }
    for group in &cycles {
        let line: Vec<_> = group.iter().map(|id| escape(graph.path(*id))).collect();
        writeln!(out, "{}", line.join("\t"))?;
    }
    Ok(())
}

//! Files that import each other in cycles.

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

//! The target of each import of one file.

use std::fmt::Write;

use coord_graph::Node;
use coord_graph::Resolution;
use coord_graph::Snapshot;
use coord_scan::FileState;

/// The whole output for the file at `path`, which is tracked.
pub(super) fn text(snapshot: &Snapshot, path: &str) -> String {
    let graph = snapshot.graph();
    let Some(node) = graph.id(path).and_then(|id| graph.node(id)) else {
        return String::new();
    };
    let mut out = format!("{}: {}\n", printable(path), describe_node(node));
    let explained = snapshot.explain(path).unwrap_or_default();
    let lines: Vec<[String; 4]> = explained
        .into_iter()
        .map(|(specifier, outcome)| {
            let written = match &specifier.name {
                Some(name) => format!("{} ({name})", specifier.text),
                None => specifier.text.clone(),
            };
            let led = match outcome {
                Resolution::File(id) if graph.path(id) == path => "-> itself, which is not an edge".to_owned(),
                Resolution::File(id) => format!("-> {}", printable(graph.path(id))),
                Resolution::Unresolved(reason) => format!("-- {}: {}", reason.name(), reason.sentence()),
            };
            [
                specifier.line.to_string(),
                specifier.kind.name().to_owned(),
                printable(&written),
                led,
            ]
        })
        .collect();
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or_default().min(60)
    };
    let (numbers, kinds, texts) = (width(0), width(1), width(2));
    for [number, kind, written, led] in &lines {
        // Writing to a String never fails.
        let _ = writeln!(out, "  {number:>numbers$}  {kind:<kinds$}  {written:<texts$}  {led}");
    }
    if let Some(id) = graph.id(path) {
        let importers = graph.importers(id);
        let _ = match importers.len() {
            0 => writeln!(out, "Imported by no file"),
            1 => writeln!(out, "Imported by 1 file:"),
            count => writeln!(out, "Imported by {count} files:"),
        };
        for importer in importers {
            let _ = writeln!(out, "  {}", printable(graph.path(*importer)));
        }
    }
    out
}

fn describe_node(node: Node<'_>) -> String {
    let size = node.size.map_or_else(String::new, |size| format!(", {size} bytes"));
    match (node.language, node.state) {
        (None, _) => "its imports are not known".to_owned(),
        (Some(language), FileState::Ok) => format!("{}{size}", language.name()),
        (Some(language), state) => format!("{}{size}, not scanned ({})", language.name(), state.name()),
    }
}

/// Text without control characters: the content or the name of a file must not move the reader's cursor.
fn printable(text: &str) -> String {
    if text.is_empty() {
        return "\"\"".to_owned();
    }
    text.chars()
        .flat_map(|character| {
            let escaped = character.is_control().then(|| character.escape_default());
            let plain = (!character.is_control()).then_some(character);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}

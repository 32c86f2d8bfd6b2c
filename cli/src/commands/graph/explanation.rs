//! The target of each import of one file.

use std::fmt::Write;

use coord_graph::{Node, Resolution, Snapshot};
use coord_scan::FileState;

/// The output for the file at `path`, which is tracked.
pub(super) fn explain(snapshot: &Snapshot, path: &str) -> String {
    let graph = snapshot.graph();
    let Some((id, node)) = graph.id(path).and_then(|id| Some((id, graph.node(id)?))) else {
        return String::new();
    };
    let mut out = format!("{}: {}\n", printable(path), describe_node(node));
    let imports = snapshot.explain(path).unwrap_or_default();
    let lines: Vec<[String; 4]> = imports
        .into_iter()
        .map(|(specifier, resolution)| {
            let text = match &specifier.name {
                Some(name) => format!("{} ({name})", specifier.text),
                None => specifier.text.clone(),
            };
            let target = match resolution {
                Resolution::File(target) if target == id => "-> itself, which is not an edge".to_owned(),
                Resolution::File(target) => format!("-> {}", printable(graph.path(target))),
                Resolution::Unresolved(reason) => format!("-- {}: {}", reason.name(), reason.sentence()),
            };
            [
                specifier.line.to_string(),
                specifier.kind.name().to_owned(),
                printable(&text),
                target,
            ]
        })
        .collect();
    let width = |column: usize| {
        let widths = lines.iter().map(|line| line[column].chars().count());
        widths.max().unwrap_or_default().min(60)
    };
    let (numbers, kinds, texts) = (width(0), width(1), width(2));
    for [number, kind, text, target] in &lines {
        // Writing to a String never fails.
        let _ = writeln!(out, "  {number:>numbers$}  {kind:<kinds$}  {text:<texts$}  {target}");
    }
    let importers = graph.importers(id);
    let _ = match importers.len() {
        0 => writeln!(out, "Imported by no file"),
        1 => writeln!(out, "Imported by 1 file:"),
        count => writeln!(out, "Imported by {count} files:"),
    };
    for importer in importers {
        let _ = writeln!(out, "  {}", printable(graph.path(*importer)));
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

/// Text with control characters escaped: the content or the name of a file must not move the reader's cursor.
fn printable(text: &str) -> String {
    if text.is_empty() {
        return "\"\"".to_owned();
    }
    let mut escaped = String::new();
    for character in text.chars() {
        match character.is_control() {
            true => escaped.extend(character.escape_default()),
            false => escaped.push(character),
        }
    }
    escaped
}

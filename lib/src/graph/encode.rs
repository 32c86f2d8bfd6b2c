//! Forms of the graph: fields of the adjacency hash that the Lua scripts read, and JSON for the page.

use std::collections::HashMap;
use std::fmt::Write;

use super::FileId;
use super::import_graph::ImportGraph;

/// Most lines in one field of the adjacency hash. A file with more is a hub.
pub const MAX_LINES: usize = 512;

impl ImportGraph {
    /// The fields of the adjacency hash, by path.
    ///
    /// - Field `PATH`: the number of lines, then a line `>OTHER` for each file that it imports and a line `<OTHER` for
    ///   each that imports it, in the order of paths, imports first; every line ends in a newline. A file with neither has no field.
    /// - A hub has more than [`MAX_LINES`] lines. Its field begins `B<lines>:<chunks>` and lists only those neighbours
    ///   that are hubs too; the fields `PATH\n1` to `PATH\n<chunks>` hold all its lines, at most [`MAX_LINES`] each.
    pub fn adjacency(&self) -> impl Iterator<Item = (String, String)> + '_ {
        (0..self.len() as FileId).flat_map(|id| self.adjacency_of(id))
    }

    fn line_count(&self, id: FileId) -> usize {
        self.imports(id).len() + self.importers(id).len()
    }

    /// The fields of one file.
    pub fn adjacency_of(&self, id: FileId) -> Vec<(String, String)> {
        let path = self.path(id);
        let lines: Vec<(char, FileId)> = self
            .imports(id)
            .iter()
            .map(|(to, _)| ('>', *to))
            .chain(self.importers(id).iter().map(|from| ('<', *from)))
            .collect();
        let text_of = |head: String, lines: &mut dyn Iterator<Item = (char, FileId)>| {
            lines.fold(head, |mut text, (sign, other)| {
                text.push(sign);
                text.push_str(self.path(other));
                text.push('\n');
                text
            })
        };
        if lines.is_empty() {
            return Vec::new();
        }
        if lines.len() <= MAX_LINES {
            let value = text_of(format!("{}\n", lines.len()), &mut lines.iter().copied());
            return vec![(path.to_owned(), value)];
        }
        let chunks = lines.chunks(MAX_LINES);
        let head = format!("B{}:{}\n", lines.len(), chunks.len());
        let mut hubs = lines
            .iter()
            .copied()
            .filter(|(_, other)| self.line_count(*other) > MAX_LINES);
        let mut fields = vec![(path.to_owned(), text_of(head, &mut hubs))];
        for (number, chunk) in (1..).zip(chunks) {
            fields.push((
                format!("{path}\n{number}"),
                text_of(String::new(), &mut chunk.iter().copied()),
            ));
        }
        fields
    }

    /// What has to be written and what deleted for the adjacency hash of `older` to become this graph's.
    pub fn adjacency_changes(&self, older: &ImportGraph) -> AdjacencyChanges {
        let mut before: HashMap<String, String> = older.adjacency().collect();
        let changed = self
            .adjacency()
            .filter(|(field, value)| before.remove(field).as_ref() != Some(value));
        let changed = changed.collect();
        let mut gone: Vec<String> = before.into_keys().collect();
        gone.sort_unstable();
        AdjacencyChanges { changed, gone }
    }

    /// `[{"id":PATH,"type":"file","language":NAME,"size":BYTES,"state":STATE}, ...]` in the order of paths. `language` and
    /// `size` are `null` where they are not known; `state` is left out where it is `ok`.
    pub fn nodes_json(&self) -> Vec<u8> {
        let mut out = String::with_capacity(self.len() * 96 + 2);
        list(&mut out, self.nodes(), |out, node| {
            out.push_str("{\"id\":");
            text(out, node.path);
            out.push_str(",\"type\":\"file\",\"language\":");
            match node.language {
                Some(language) => text(out, language.name()),
                None => out.push_str("null"),
            }
            out.push_str(",\"size\":");
            match node.size {
                Some(size) => {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "{size}");
                }
                None => out.push_str("null"),
            }
            if node.state != super::FileState::Ok {
                out.push_str(",\"state\":");
                text(out, node.state.name());
            }
            out.push('}');
        });
        out.into_bytes()
    }

    /// `[{"source":PATH,"target":PATH,"type":"import"}, ...]`, by source, then by target.
    pub fn edges_json(&self) -> Vec<u8> {
        let mut out = String::with_capacity(self.edge_count() * 96 + 2);
        list(&mut out, self.edges(), |out, (from, to, _)| {
            out.push_str("{\"source\":");
            text(out, self.path(from));
            out.push_str(",\"target\":");
            text(out, self.path(to));
            out.push_str(",\"type\":\"import\"}");
        });
        out.into_bytes()
    }

    /// `[[SOURCE,TARGET], ...]` in the same order, each a position in the list of nodes.
    pub fn edges_compact_json(&self) -> Vec<u8> {
        let mut out = String::with_capacity(self.edge_count() * 12 + 2);
        list(&mut out, self.edges(), |out, (from, to, _)| {
            let _ = write!(out, "[{from},{to}]");
        });
        out.into_bytes()
    }
}

/// The difference between two adjacency hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdjacencyChanges {
    /// Fields to set, with their values.
    pub changed: Vec<(String, String)>,
    /// Fields to delete.
    pub gone: Vec<String>,
}

fn list<T>(out: &mut String, items: impl Iterator<Item = T>, mut write: impl FnMut(&mut String, T)) {
    out.push('[');
    for (number, item) in items.enumerate() {
        if number > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// A JSON string.
fn text(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

//! The graph as the fields of the adjacency hash that the Lua scripts read.

use std::collections::HashMap;

use crate::file::FileId;
use crate::import_graph::ImportGraph;
use crate::spelling;
use crate::tree::pair_by_path;

/// Most lines in one field of the adjacency hash. A file with more is a hub.
const MAX_LINES: usize = 512;

impl ImportGraph {
    /// The fields of the adjacency hash, by path.
    ///
    /// - Field `PATH`: the number of lines, then a line `>OTHER` for each file that it imports and a line `<OTHER` for
    ///   each importer. Imports come first, both in the order of paths, and every line ends in a newline. A file with
    ///   neither has no field.
    /// - A hub has more than [`MAX_LINES`] lines. Its field begins `B<lines>:<chunks>` and lists only those neighbors
    ///   that are hubs too; the fields `PATH\n1` to `PATH\n<chunks>` contain all its lines, at most [`MAX_LINES`] each.
    /// - The fields of [`spelling`] name all files.
    pub fn adjacency(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let neighbors = (0..self.len() as FileId).flat_map(|id| self.adjacency_of(id));
        neighbors.chain(spelling::fields(self.files()))
    }

    fn line_count(&self, id: FileId) -> usize {
        self.imports(id).len() + self.importers(id).len()
    }

    /// The fields of one file.
    fn adjacency_of(&self, id: FileId) -> Vec<(String, String)> {
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

    /// The fields to write and to delete, so that the adjacency hash of `older` becomes this graph's.
    pub fn adjacency_changes(&self, older: &ImportGraph) -> AdjacencyChanges {
        let mut changes = AdjacencyChanges::default();
        for pair in pair_by_path(self.files(), older.files()) {
            match pair {
                (Some(id), Some(old_id)) if self.has_same_lines(id, older, old_id) => {}
                (Some(id), Some(old_id)) => {
                    let mut before: HashMap<String, String> = older.adjacency_of(old_id).into_iter().collect();
                    let now = self.adjacency_of(id).into_iter();
                    changes
                        .changed
                        .extend(now.filter(|(field, value)| before.remove(field).as_ref() != Some(value)));
                    changes.gone.extend(before.into_keys());
                }
                (Some(id), None) => changes.changed.extend(self.adjacency_of(id)),
                (None, old_id) => {
                    let removed = old_id.into_iter().flat_map(|id| older.adjacency_of(id));
                    changes.gone.extend(removed.map(|(field, _)| field));
                }
            }
        }
        let (spellings, deleted) = spelling::changes(self.files(), older.files());
        changes.changed.extend(spellings);
        changes.gone.extend(deleted);
        changes.gone.sort_unstable();
        changes
    }

    /// Whether the fields of a file are certainly unchanged. Those of a hub also depend on which neighbors are hubs.
    fn has_same_lines(&self, id: FileId, older: &ImportGraph, older_id: FileId) -> bool {
        let same = |one: FileId, other: FileId| self.path(one) == older.path(other);
        let (imports, older_imports) = (self.imports(id), older.imports(older_id));
        let (importers, older_importers) = (self.importers(id), older.importers(older_id));
        imports.len() == older_imports.len()
            && importers.len() == older_importers.len()
            && imports.len() + importers.len() <= MAX_LINES
            && imports
                .iter()
                .zip(older_imports)
                .all(|(one, other)| same(one.0, other.0))
            && importers
                .iter()
                .zip(older_importers)
                .all(|(one, other)| same(*one, *other))
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

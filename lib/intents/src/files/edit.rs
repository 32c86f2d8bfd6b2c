//! Changes of bytes in the `active_intents.yaml` that is there.

use std::ops::Range;

use super::members::{Members, Value, members};
use super::registry::Registry;
use super::render::{self, Indentation, column, flow_entry, in_flow, line_start};
use super::scalar::{block_header, is_block_text};
use super::tree::{Content, Entry, Node, Style};
use crate::intent::Intent;

/// Changes of a text, collected first.
pub(super) struct Editor<'a> {
    pub text: &'a str,
    pub edits: Vec<(Range<usize>, String)>,
    pub indentation: Indentation,
    /// Whether the last line has its line break, or has been given one.
    is_terminated: bool,
}

impl<'a> Editor<'a> {
    pub fn new(registry: &'a Registry) -> Self {
        let text = registry.text.as_str();
        let list = registry
            .root_key()
            .and_then(|key| registry.tree.root.entry(key))
            .map(|entry| &entry.value);
        let is_terminated = text.is_empty() || text.ends_with('\n');
        Self {
            text,
            edits: Vec::new(),
            indentation: Indentation::of(text, list),
            is_terminated,
        }
    }

    pub fn registry(&mut self, registry: &Registry, wanted: &[Intent]) {
        let root = &registry.tree.root;
        let entry = registry.root_key().and_then(|key| root.entry(key));
        let mut added = Vec::new();
        for intent in wanted {
            match registry.intents.iter().position(|known| known.id == intent.id) {
                Some(at) => self.members(
                    &registry.items()[at].node,
                    &members(&registry.intents[at]),
                    &members(intent),
                ),
                None => added.push(Value::Map(members(intent))),
            }
        }
        if added.is_empty() {
            return;
        }
        match entry {
            Some(entry) if registry.items().is_empty() => {
                let place = ListPosition {
                    from: entry.value_from,
                    column: column(self.text, entry.key_start),
                    flow: is_flow(root),
                };
                self.list(&entry.value, &[], &added, place);
            }
            Some(entry) => self.append(&entry.value, &added),
            None => match root.entries().and_then(<[Entry]>::last) {
                Some(last) if is_flow(root) => {
                    self.replace(
                        last.value.end..last.value.end,
                        format!(", {}", flow_entry("intents", &Value::List(added))),
                    );
                }
                _ => self.insert_lines(
                    registry.tree.end,
                    render::entry(
                        "intents",
                        &Value::List(added),
                        column(self.text, root.start.min(registry.tree.end)),
                        self.indentation,
                    ),
                ),
            },
        }
    }

    /// Appends intents, with the distance that the last two have.
    fn append(&mut self, list: &Node, added: &[Value]) {
        let Some([.., last]) = list.items() else { return };
        if is_flow(list) {
            let text = added.iter().map(|value| format!(", {}", in_flow(value))).collect();
            return self.replace(last.node.end..last.node.end, text);
        }
        let blank = list.items().is_some_and(|items| match items {
            [.., before, last] => self.text[before.node.end..last.dash].replace('\r', "").contains("\n\n"),
            _ => false,
        });
        for value in added {
            let lines = render::item(value, column(self.text, last.dash), self.indentation);
            self.insert_lines(last.node.end, if blank { format!("\n{lines}") } else { lines });
        }
    }

    /// Changes those members of a mapping that differ.
    fn members(&mut self, node: &Node, old: &Members, new: &Members) {
        let mut before: Option<&Entry> = None;
        for ((key, old), (_, new)) in old.iter().zip(new) {
            let entry = node.entry(key);
            if old != new {
                match (entry, new) {
                    (Some(entry), Value::Absent) => self.remove(entry, is_flow(node)),
                    (Some(entry), _) => self.value(entry, old, new, is_flow(node)),
                    (None, _) => self.insert(node, before, key, new),
                }
            }
            before = entry.or(before);
        }
    }

    /// Inserts a member after the one that the file's order puts before it.
    fn insert(&mut self, node: &Node, before: Option<&Entry>, key: &str, value: &Value) {
        let Some(entries) = node.entries() else { return };
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return;
        };
        let end = before.unwrap_or(last).value.end;
        if is_flow(node) {
            self.replace(end..end, format!(", {}", flow_entry(key, value)));
        } else {
            let lines = render::entry(key, value, column(self.text, first.key_start), self.indentation);
            self.insert_lines(end, lines);
        }
    }

    fn remove(&mut self, entry: &Entry, flow: bool) {
        let start = line_start(self.text, entry.key_start);
        if flow || !self.text[start..entry.key_start].trim().is_empty() {
            self.replace(entry.value_from..entry.value.end, " null".to_owned());
        } else {
            self.replace(start..self.line_end(entry.value.end), String::new());
        }
    }

    fn value(&mut self, entry: &Entry, old: &Value, new: &Value, flow: bool) {
        let (node, key_column) = (&entry.value, column(self.text, entry.key_start));
        match new {
            Value::Absent => {}
            Value::Text(_) | Value::Number(_) => self.scalar(node, new, key_column + self.indentation.map, flow),
            Value::List(new) => {
                let old = if let Value::List(old) = old {
                    old.as_slice()
                } else {
                    &[]
                };
                self.list(
                    node,
                    old,
                    new,
                    ListPosition {
                        from: entry.value_from,
                        column: key_column,
                        flow,
                    },
                );
            }
            Value::Map(new) => match node.entries() {
                Some([]) => self.replace(node.start..node.end, in_flow(&Value::Map(new.clone()))),
                Some(_) => {
                    let absent = || new.iter().map(|(key, _)| (*key, Value::Absent)).collect();
                    let old = if let Value::Map(old) = old {
                        old.clone()
                    } else {
                        absent()
                    };
                    self.members(node, &old, new);
                }
                None if flow => {
                    self.replace(
                        entry.value_from..node.end,
                        format!(" {}", in_flow(&Value::Map(new.clone()))),
                    );
                }
                None => {
                    self.replace(entry.value_from..node.end, String::new());
                    self.insert_lines(
                        node.end,
                        render::entries(new, key_column + self.indentation.map, self.indentation),
                    );
                }
            },
        }
    }

    /// Replaces a scalar, in its own style where that can hold the new one.
    pub fn scalar(&mut self, node: &Node, value: &Value, body_column: usize, flow: bool) {
        let Content::Scalar { style, .. } = node.content else {
            return;
        };
        let block = match value {
            Value::Text(text) if !flow && is_block_text(text) => Some(text),
            _ => None,
        };
        let (head_end, inline_style) = match style {
            Style::Block { header_end } => (header_end, Style::Plain),
            style => (node.end, style),
        };
        let space = if node.start == node.end { " " } else { "" };
        let head = block.map_or_else(
            || render::scalar(value, inline_style, flow),
            |text| block_header(text).to_owned(),
        );
        self.replace(node.start..head_end, format!("{space}{head}"));
        let body = block.map_or_else(String::new, |text| render::block_lines(text, body_column));
        if node.end > head_end {
            self.replace(self.line_end(head_end)..self.line_end(node.end), body);
        } else if !body.is_empty() {
            self.insert_lines(node.end, body);
        }
    }

    /// Where the line of `offset` ends, after its line break. A text that ends with a line break has ended.
    pub fn line_end(&self, offset: usize) -> usize {
        if self.text[..offset].ends_with('\n') {
            return offset;
        }
        self.text[offset..]
            .find('\n')
            .map_or(self.text.len(), |newline| offset + newline + 1)
    }

    /// Inserts lines after the line of `offset`.
    pub fn insert_lines(&mut self, offset: usize, lines: String) {
        let at = self.line_end(offset);
        if at == self.text.len() && !self.is_terminated {
            self.is_terminated = true;
            self.replace(at..at, format!("\n{lines}"));
        } else {
            self.replace(at..at, lines);
        }
    }

    pub fn replace(&mut self, range: Range<usize>, text: String) {
        if !(range.is_empty() && text.is_empty()) {
            self.edits.push((range, text));
        }
    }

    /// The changed text; none if two changes meet. Of two at one place, the one that was collected first comes first.
    pub fn apply(mut self) -> Option<String> {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let is_crlf = self
            .text
            .find('\n')
            .is_some_and(|newline| self.text[..newline].ends_with('\r'));
        let (mut edited, mut done) = (String::with_capacity(self.text.len() + 1024), 0);
        for (range, text) in &self.edits {
            edited.push_str(self.text.get(done..range.start)?);
            if is_crlf {
                edited.push_str(&text.replace('\n', "\r\n"));
            } else {
                edited.push_str(text);
            }
            done = range.end;
        }
        edited.push_str(&self.text[done..]);
        Some(edited)
    }
}

/// Where a list is.
#[derive(Clone, Copy)]
pub(super) struct ListPosition {
    /// After the colon of its key.
    pub from: usize,
    /// Of its key.
    pub column: usize,
    /// Whether its key is within brackets.
    pub flow: bool,
}

pub(super) fn is_flow(node: &Node) -> bool {
    matches!(
        node.content,
        Content::List { flow: true, .. } | Content::Map { flow: true, .. }
    )
}

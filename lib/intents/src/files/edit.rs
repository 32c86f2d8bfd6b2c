//! Edits the bytes of an existing `active_intents.yaml`.

use std::ops::Range;

use super::members::{Members, Value, members};
use super::registry::Registry;
use super::render::{self, Indentation, column, flow_entry, flow_value, line_start};
use super::scalar::{block_header, is_block_text};
use super::tree::{Content, Entry, Node, Style};
use crate::intent::Intent;

/// Collects the changes to a text; [`Editor::apply`] makes them.
pub(super) struct Editor<'a> {
    pub text: &'a str,
    pub edits: Vec<(Range<usize>, String)>,
    pub indentation: Indentation,
    /// Whether the last line ends with a line break, or a collected change adds one.
    is_terminated: bool,
}

impl<'a> Editor<'a> {
    pub fn new(registry: &'a Registry) -> Self {
        let text = registry.text.as_str();
        let list = registry.root_entry().map(|entry| &entry.value);
        let is_terminated = text.is_empty() || text.ends_with('\n');
        Self {
            text,
            edits: Vec::new(),
            indentation: Indentation::of(text, list),
            is_terminated,
        }
    }

    pub fn update_intents(&mut self, registry: &Registry, wanted: &[Intent]) {
        let root = &registry.tree.root;
        let mut added = Vec::new();
        for intent in wanted {
            match registry.intents.iter().position(|current| current.id == intent.id) {
                Some(index) => self.update_members(
                    &registry.items()[index].node,
                    &members(&registry.intents[index]),
                    &members(intent),
                ),
                None => added.push(Value::Map(members(intent))),
            }
        }
        if added.is_empty() {
            return;
        }
        match registry.root_entry() {
            Some(entry) if registry.items().is_empty() => {
                let position = ListPosition {
                    from: entry.value_from,
                    column: column(self.text, entry.key_start),
                    flow: root.is_flow(),
                };
                self.update_list(&entry.value, &[], &added, position);
            }
            Some(entry) => self.append_intents(&entry.value, &added),
            None => match root.entries().and_then(<[Entry]>::last) {
                Some(last) if root.is_flow() => {
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

    /// Appends intents, separated by a blank line if the last two are.
    fn append_intents(&mut self, list: &Node, added: &[Value]) {
        let Some(items @ [.., last]) = list.items() else { return };
        if list.is_flow() {
            let text = added.iter().map(|value| format!(", {}", flow_value(value))).collect();
            return self.replace(last.node.end..last.node.end, text);
        }
        let has_blank_line = match items {
            [.., before, last] => self.text[before.node.end..last.dash].replace('\r', "").contains("\n\n"),
            _ => false,
        };
        for value in added {
            let lines = render::item(value, column(self.text, last.dash), self.indentation);
            let lines = if has_blank_line { format!("\n{lines}") } else { lines };
            self.insert_lines(last.node.end, lines);
        }
    }

    /// Changes those members of a mapping that differ.
    fn update_members(&mut self, node: &Node, old: &Members, new: &Members) {
        let mut before: Option<&Entry> = None;
        for ((key, old), (_, new)) in old.iter().zip(new) {
            let entry = node.entry(key);
            if old != new {
                match (entry, new) {
                    (Some(entry), Value::Absent) => self.remove_member(entry, node.is_flow()),
                    (Some(entry), _) => self.update_value(entry, old, new, node.is_flow()),
                    (None, _) => self.insert_member(node, before, key, new),
                }
            }
            before = entry.or(before);
        }
    }

    /// Inserts a member after `before`, or at the end.
    fn insert_member(&mut self, node: &Node, before: Option<&Entry>, key: &str, value: &Value) {
        let Some(entries) = node.entries() else { return };
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else {
            return;
        };
        let end = before.unwrap_or(last).value.end;
        if node.is_flow() {
            self.replace(end..end, format!(", {}", flow_entry(key, value)));
        } else {
            let lines = render::entry(key, value, column(self.text, first.key_start), self.indentation);
            self.insert_lines(end, lines);
        }
    }

    fn remove_member(&mut self, entry: &Entry, flow: bool) {
        let start = line_start(self.text, entry.key_start);
        if flow || !self.text[start..entry.key_start].trim().is_empty() {
            self.replace(entry.value_from..entry.value.end, " null".to_owned());
        } else {
            self.replace(start..self.line_end(entry.value.end), String::new());
        }
    }

    fn update_value(&mut self, entry: &Entry, old: &Value, new: &Value, flow: bool) {
        let (node, key_column) = (&entry.value, column(self.text, entry.key_start));
        match new {
            Value::Absent => {}
            Value::Text(_) | Value::Number(_) => {
                self.replace_scalar(node, new, key_column + self.indentation.map, flow);
            }
            Value::List(items) => {
                let old = match old {
                    Value::List(old) => old.as_slice(),
                    _ => &[],
                };
                let position = ListPosition {
                    from: entry.value_from,
                    column: key_column,
                    flow,
                };
                self.update_list(node, old, items, position);
            }
            Value::Map(members) => match node.entries() {
                Some([]) => self.replace(node.start..node.end, flow_value(new)),
                Some(_) => {
                    let old = match old {
                        Value::Map(old) => old.clone(),
                        _ => members.iter().map(|(key, _)| (*key, Value::Absent)).collect(),
                    };
                    self.update_members(node, &old, members);
                }
                None if flow => self.replace(entry.value_from..node.end, format!(" {}", flow_value(new))),
                None => {
                    self.replace(entry.value_from..node.end, String::new());
                    self.insert_lines(
                        node.end,
                        render::entries(members, key_column + self.indentation.map, self.indentation),
                    );
                }
            },
        }
    }

    /// Replaces a scalar. The style stays if it can represent the new value.
    pub fn replace_scalar(&mut self, node: &Node, value: &Value, body_column: usize, flow: bool) {
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

    /// The end of the line at `offset`, after its line break. Right after a line break, this is `offset` itself.
    pub fn line_end(&self, offset: usize) -> usize {
        if self.text[..offset].ends_with('\n') {
            return offset;
        }
        self.text[offset..]
            .find('\n')
            .map_or(self.text.len(), |newline| offset + newline + 1)
    }

    /// Inserts lines after the line at `offset`.
    pub fn insert_lines(&mut self, offset: usize, lines: String) {
        let end = self.line_end(offset);
        if end == self.text.len() && !self.is_terminated {
            self.is_terminated = true;
            self.replace(end..end, format!("\n{lines}"));
        } else {
            self.replace(end..end, lines);
        }
    }

    pub fn replace(&mut self, range: Range<usize>, text: String) {
        if !(range.is_empty() && text.is_empty()) {
            self.edits.push((range, text));
        }
    }

    /// The changed text, or `None` if two changes overlap. Changes of one range keep the order of their collection.
    pub fn apply(mut self) -> Option<String> {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let is_crlf = self
            .text
            .find('\n')
            .is_some_and(|newline| self.text[..newline].ends_with('\r'));
        let (mut edited, mut copied) = (String::with_capacity(self.text.len() + 1024), 0);
        for (range, text) in &self.edits {
            edited.push_str(self.text.get(copied..range.start)?);
            if is_crlf {
                edited.push_str(&text.replace('\n', "\r\n"));
            } else {
                edited.push_str(text);
            }
            copied = range.end;
        }
        edited.push_str(&self.text[copied..]);
        Some(edited)
    }
}

#[derive(Clone, Copy)]
pub(super) struct ListPosition {
    /// The offset after the colon of the list's key.
    pub from: usize,
    /// The column of the list's key.
    pub column: usize,
    /// Whether the key is in a flow list or map.
    pub flow: bool,
}

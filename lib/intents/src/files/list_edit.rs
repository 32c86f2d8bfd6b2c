//! Edits lists. Items that stay are not touched.

use std::ops::Range;

use super::edit::{Editor, ListPosition};
use super::members::Value;
use super::render::{self, column, flow_value, line_start};
use super::tree::{Content, Item, Node};

impl Editor<'_> {
    /// Changes the items `old` of the list `node` into `new`.
    pub fn update_list(&mut self, node: &Node, old: &[Value], new: &[Value], position: ListPosition) {
        let items = node.items().unwrap_or_default();
        if items.is_empty() {
            return self.fill_list(node, new, position);
        }
        if new.is_empty() {
            return self.clear_list(node, items, position);
        }
        // The file may have the proofs in a different order than the criteria, and proofs of deleted criteria.
        let unknown = vec![Value::Absent; items.len()];
        let is_aligned = old.len() == items.len()
            && old
                .iter()
                .zip(items)
                .all(|(value, item)| matches_node(value, &item.node));
        let old = if is_aligned { old } else { &unknown };
        for hunk in hunks(old, new) {
            self.apply_hunk(node, items, new, hunk);
        }
    }

    /// Writes the items of a list that was empty.
    fn fill_list(&mut self, node: &Node, new: &[Value], position: ListPosition) {
        if new.is_empty() {
            return;
        }
        if position.flow || self.text[position.from..node.start].contains('\n') {
            let space = if node.start == node.end { " " } else { "" };
            return self.replace(
                node.start..node.end,
                format!("{space}{}", flow_value(&Value::List(new.to_vec()))),
            );
        }
        self.replace(position.from..node.end, String::new());
        for value in new {
            let lines = render::item(value, position.column + self.indentation.list, self.indentation);
            self.insert_lines(node.end, lines);
        }
    }

    fn clear_list(&mut self, node: &Node, items: &[Item], position: ListPosition) {
        if node.is_flow() {
            return self.replace(node.start..node.end, "[]".to_owned());
        }
        self.replace(position.from..position.from, " []".to_owned());
        items.iter().for_each(|item| self.remove_item(item));
    }

    fn remove_item(&mut self, item: &Item) {
        self.replace(
            line_start(self.text, item.dash)..self.line_end(item.node.end),
            String::new(),
        );
    }

    fn apply_hunk(&mut self, node: &Node, items: &[Item], new: &[Value], (old_range, new_range): Hunk) {
        let (mut from, to) = (old_range.start, old_range.end);
        let mut added = &new[new_range];
        while let (true, Some((value @ Value::Text(_), rest))) = (from < to, added.split_first()) {
            let Content::Scalar { .. } = items[from].node.content else {
                break;
            };
            let body = column(self.text, items[from].dash) + self.indentation.map;
            self.replace_scalar(&items[from].node, value, body, node.is_flow());
            (from, added) = (from + 1, rest);
        }
        if node.is_flow() {
            return self.apply_flow_hunk(items, from..to, added);
        }
        items[from..to].iter().for_each(|item| self.remove_item(item));
        for value in added {
            let lines = render::item(value, column(self.text, items[0].dash), self.indentation);
            match to {
                0 => {
                    let start = line_start(self.text, items[0].dash);
                    self.replace(start..start, lines);
                }
                _ => self.insert_lines(items[to - 1].node.end, lines),
            }
        }
    }

    fn apply_flow_hunk(&mut self, items: &[Item], removed: Range<usize>, added: &[Value]) {
        let texts: Vec<String> = added.iter().map(flow_value).collect();
        let (start, end) = (|at: usize| items[at].node.start, |at: usize| items[at].node.end);
        let joined = texts.join(", ");
        match (removed.start, removed.end) {
            (0, to) if to == items.len() => self.replace(start(0)..end(to - 1), joined),
            (0, to) => {
                let joined = if texts.is_empty() {
                    joined
                } else {
                    format!("{joined}, ")
                };
                self.replace(start(0)..start(to), joined);
            }
            (from, to) => {
                let joined = if texts.is_empty() {
                    joined
                } else {
                    format!(", {joined}")
                };
                self.replace(end(from - 1)..end(to - 1), joined);
            }
        }
    }
}

/// Whether `value` was read from `node`, judging by its first member.
fn matches_node(value: &Value, node: &Node) -> bool {
    let Value::Map(members) = value else { return true };
    members.first().is_none_or(|(key, value)| {
        let content = node.entry(key).map(|entry| &entry.value.content);
        matches!((content, value), (Some(Content::Scalar { text, .. }), Value::Text(value)) if text == value)
    })
}

/// The old items, and the new ones that replace them.
type Hunk = (Range<usize>, Range<usize>);

/// The largest table for comparing two lists, in cells. Longer lists are replaced as a whole.
const MAX_TABLE: usize = 1 << 20;

/// The differences of two lists, around their longest common subsequence.
fn hunks(old: &[Value], new: &[Value]) -> Vec<Hunk> {
    if old.len().saturating_mul(new.len()) > MAX_TABLE {
        return vec![(0..old.len(), 0..new.len())];
    }
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = if old[i] == new[j] {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let mut hunks = Vec::new();
    let (mut i, mut j) = (0, 0);
    let (mut from_old, mut from_new) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            if (from_old, from_new) != (i, j) {
                hunks.push((from_old..i, from_new..j));
            }
            (i, j) = (i + 1, j + 1);
            (from_old, from_new) = (i, j);
        } else if j == new.len() || i < old.len() && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    if (from_old, from_new) != (i, j) {
        hunks.push((from_old..i, from_new..j));
    }
    hunks
}

//! Changes of a list: items that stay are not touched.

use std::ops::Range;

use super::edit::{Editor, ListPosition, is_flow};
use super::members::Value;
use super::render::{self, column, in_flow, line_start};
use super::tree::{Content, Item, Node};

impl Editor<'_> {
    /// Changes the items `old` of the list `node` into `new`.
    pub fn list(&mut self, node: &Node, old: &[Value], new: &[Value], place: ListPosition) {
        let items = node.items().unwrap_or_default();
        if items.is_empty() {
            return self.fill(node, new, place);
        }
        if new.is_empty() {
            return self.clear(node, items, place);
        }
        // The file may have proofs in another order than criteria, and such of criteria that are gone.
        let unknown = vec![Value::Absent; items.len()];
        let is_aligned =
            old.len() == items.len() && old.iter().zip(items).all(|(value, item)| is_of(value, &item.node));
        let old = if is_aligned { old } else { &unknown };
        for hunk in hunks(old, new) {
            self.hunk(node, items, new, hunk);
        }
    }

    /// Writes the first items.
    fn fill(&mut self, node: &Node, new: &[Value], place: ListPosition) {
        if new.is_empty() {
            return;
        }
        if place.flow || self.text[place.from..node.start].contains('\n') {
            let space = if node.start == node.end { " " } else { "" };
            return self.replace(
                node.start..node.end,
                format!("{space}{}", in_flow(&Value::List(new.to_vec()))),
            );
        }
        self.replace(place.from..node.end, String::new());
        for value in new {
            let lines = render::item(value, place.column + self.indentation.list, self.indentation);
            self.insert_lines(node.end, lines);
        }
    }

    fn clear(&mut self, node: &Node, items: &[Item], place: ListPosition) {
        if is_flow(node) {
            return self.replace(node.start..node.end, "[]".to_owned());
        }
        self.replace(place.from..place.from, " []".to_owned());
        items.iter().for_each(|item| self.remove_item(item));
    }

    fn remove_item(&mut self, item: &Item) {
        self.replace(
            line_start(self.text, item.dash)..self.line_end(item.node.end),
            String::new(),
        );
    }

    fn hunk(&mut self, node: &Node, items: &[Item], new: &[Value], (old_range, new_range): Hunk) {
        let (mut from, to) = (old_range.start, old_range.end);
        let mut added = &new[new_range];
        while let (true, Some((value @ Value::Text(_), rest))) = (from < to, added.split_first()) {
            let Content::Scalar { .. } = items[from].node.content else {
                break;
            };
            let body = column(self.text, items[from].dash) + self.indentation.map;
            self.scalar(&items[from].node, value, body, is_flow(node));
            (from, added) = (from + 1, rest);
        }
        if is_flow(node) {
            return self.flow_hunk(items, from..to, added);
        }
        items[from..to].iter().for_each(|item| self.remove_item(item));
        let lines = added
            .iter()
            .map(|value| render::item(value, column(self.text, items[0].dash), self.indentation));
        let lines: Vec<String> = lines.collect();
        for lines in lines {
            match to {
                0 => {
                    let at = line_start(self.text, items[0].dash);
                    self.replace(at..at, lines);
                }
                _ => self.insert_lines(items[to - 1].node.end, lines),
            }
        }
    }

    fn flow_hunk(&mut self, items: &[Item], removed: Range<usize>, added: &[Value]) {
        let texts: Vec<String> = added.iter().map(in_flow).collect();
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

/// Whether `value` was read from `node`, as far as the first member shows.
fn is_of(value: &Value, node: &Node) -> bool {
    let Value::Map(members) = value else { return true };
    members.first().is_none_or(|(key, value)| {
        let content = node.entry(key).map(|entry| &entry.value.content);
        matches!((content, value), (Some(Content::Scalar { text, .. }), Value::Text(known)) if text == known)
    })
}

/// Old items, and the new ones in their place.
type Hunk = (Range<usize>, Range<usize>);

/// The largest table that is computed for two lists; those that would need a larger one are replaced.
const MAX_TABLE: usize = 1 << 20;

/// Where two lists differ, around their longest common subsequence.
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

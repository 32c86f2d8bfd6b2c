//! Writes members as lines (block style), or in brackets and braces (flow style).

use super::members::{Members, Value};
use super::scalar::{block_header, inline, is_block_text};
use super::tree::{Entry, Node, Style};

/// The indentation of a file, in columns.
#[derive(Clone, Copy)]
pub(super) struct Indentation {
    /// From a key to the `-` of its list.
    pub list: usize,
    /// From a key to the keys of its mapping, and from a key or `-` to the lines of its text.
    pub map: usize,
    /// From a `-` to its item.
    pub item: usize,
}

pub(super) const NEW_FILE: Indentation = Indentation {
    list: 4,
    map: 4,
    item: 2,
};

impl Indentation {
    /// The indentation of the intents in `list`, or that of a new file if there are none in block style.
    pub fn of(text: &str, list: Option<&Node>) -> Self {
        let column = |offset: usize| column(text, offset);
        let items = list
            .filter(|list| !list.is_flow())
            .and_then(Node::items)
            .unwrap_or_default();
        let Some(first) = items.first() else { return NEW_FILE };
        let dash = column(first.dash);
        let entries = || items.iter().flat_map(|item| item.node.entries().unwrap_or_default());
        let offset = |entry: &Entry| column(entry.value.start).saturating_sub(column(entry.key_start));
        let list = entries()
            .find(|entry| entry.value.items().is_some() && !entry.value.is_flow())
            .map(offset);
        let map = entries()
            .find(|entry| entry.value.entries().is_some() && !entry.value.is_flow())
            .map(offset);
        let list = list.or(map).unwrap_or(dash);
        let map = map.unwrap_or(if list == 0 { 2 } else { list });
        Self {
            list,
            map,
            item: column(first.node.start).saturating_sub(dash).max(2),
        }
    }
}

/// The distance of `offset` from the beginning of its line, in bytes.
pub(super) fn column(text: &str, offset: usize) -> usize {
    offset - line_start(text, offset)
}

/// The beginning of the line at `offset`.
pub(super) fn line_start(text: &str, offset: usize) -> usize {
    text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
}

/// `key: value` as lines, each with its line break; empty if the value is absent.
pub(super) fn entry(key: &str, value: &Value, column: usize, indentation: Indentation) -> String {
    let indent = " ".repeat(column);
    match value {
        Value::Absent => String::new(),
        Value::Text(text) if is_block_text(text) => {
            format!(
                "{indent}{key}: {}\n{}",
                block_header(text),
                block_lines(text, column + indentation.map)
            )
        }
        Value::Text(_) | Value::Number(_) => format!("{indent}{key}: {}\n", scalar(value, Style::Plain, false)),
        Value::List(items) if items.is_empty() => format!("{indent}{key}: []\n"),
        Value::List(items) => {
            let items: String = items
                .iter()
                .map(|value| item(value, column + indentation.list, indentation))
                .collect();
            format!("{indent}{key}:\n{items}")
        }
        Value::Map(members) => format!(
            "{indent}{key}:\n{}",
            entries(members, column + indentation.map, indentation)
        ),
    }
}

/// The lines of a mapping.
pub(super) fn entries(members: &Members, column: usize, indentation: Indentation) -> String {
    members
        .iter()
        .map(|(key, value)| entry(key, value, column, indentation))
        .collect()
}

/// `- value` as lines, the `-` at `column`.
pub(super) fn item(value: &Value, column: usize, indentation: Indentation) -> String {
    let (indent, gap) = (" ".repeat(column), " ".repeat(indentation.item - 1));
    match value {
        Value::Map(members) => {
            let lines = entries(members, column + indentation.item, indentation);
            format!("{indent}-{gap}{}", lines.trim_start_matches(' '))
        }
        Value::Text(text) if is_block_text(text) => {
            format!(
                "{indent}-{gap}{}\n{}",
                block_header(text),
                block_lines(text, column + indentation.map)
            )
        }
        value => format!("{indent}-{gap}{}\n", scalar(value, Style::Plain, false)),
    }
}

/// The lines of a block scalar. Empty lines are not indented.
pub(super) fn block_lines(text: &str, column: usize) -> String {
    let indent = " ".repeat(column);
    text.lines()
        .map(|line| {
            if line.is_empty() {
                "\n".to_owned()
            } else {
                format!("{indent}{line}\n")
            }
        })
        .collect()
}

/// A value on one line. A text has the style `old` if that style can represent it.
pub(super) fn scalar(value: &Value, old: Style, flow: bool) -> String {
    match value {
        Value::Absent => "null".to_owned(),
        Value::Text(text) => inline(text, old, flow),
        Value::Number(number) => number.to_string(),
        Value::List(items) => format!("[{}]", items.iter().map(flow_value).collect::<Vec<_>>().join(", ")),
        Value::Map(members) => {
            let present = members.iter().filter(|(_, value)| *value != Value::Absent);
            let entries: Vec<_> = present.map(|(key, value)| flow_entry(key, value)).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A value inside a flow list or map.
pub(super) fn flow_value(value: &Value) -> String {
    scalar(value, Style::Plain, true)
}

/// `key: value` inside a flow map.
pub(super) fn flow_entry(key: &str, value: &Value) -> String {
    format!("{key}: {}", flow_value(value))
}

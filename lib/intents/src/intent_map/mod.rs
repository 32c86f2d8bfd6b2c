//! `intent_map.md`: which intent owns which file, as a table for people.
//!
//! Coord derives the table from its records, and replaces it as a whole. All other text stays byte for byte.

mod cells;
mod lines;
mod row;
mod write;

use cells::code;
use lines::{Line, lines};
pub use row::{LastHash, Row, rows};
pub use write::write;

/// All rows of a file, including those of the older form (`## ID: NAME` and a list).
pub fn read(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut section: Option<&str> = None;
    for (line, kind) in lines(text) {
        match kind {
            Line::Row(row) => rows.push(row),
            Line::Prose => {
                let line = line.trim_end();
                if line.starts_with('#') {
                    section = line
                        .strip_prefix("## ")
                        .and_then(|title| title.split_once(": "))
                        .map(|(id, _)| id.trim())
                        .filter(|id| crate::intent::is_valid_id(id));
                } else if let Some(row) = section.and_then(|id| older_row(id, line)) {
                    rows.push(row);
                }
            }
            Line::Table | Line::Empty | Line::Fenced => {}
        }
    }
    rows
}

/// `- FILE (Lx-y, hash: ...)`
fn older_row(intent_id: &str, line: &str) -> Option<Row> {
    let item = line
        .trim_start()
        .strip_prefix(['-', '*', '+'])?
        .strip_prefix(' ')?
        .trim_start();
    let (path, rest) = item.rsplit_once(" (L")?;
    let (range, hash) = rest.strip_suffix(')')?.split_once(", hash: ")?;
    let is_range = !range.is_empty() && range.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    let path = path.trim();
    let path = code(path).unwrap_or_else(|| path.to_owned());
    let hash = LastHash::parse(&code(hash).unwrap_or_else(|| hash.to_owned()));
    // A Markdown formatter has escaped it, so the text is no longer the path.
    let is_escaped = path.contains("\\*") || path.contains("\\_");
    (is_range && !path.is_empty() && !is_escaped).then(|| Row {
        path,
        intent_id: intent_id.to_owned(),
        hash,
        is_locked: false,
    })
}

//! The lines of the file, by kind.

use super::cells::{cells, code, parse_path};
use super::row::{EMPTY, HEAD, LastHash, Row};

pub(super) enum Line {
    Row(Row),
    /// Head or delimiter row of one of Coord's tables.
    Table,
    /// The sentence in place of an empty table.
    Empty,
    /// In a fenced code block: a person's example.
    Fenced,
    Prose,
}

/// Each line with its line break, and its kind.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (&str, Line)> {
    let mut after_head = false;
    text.split_inclusive('\n')
        .zip(fenced(text))
        .map(move |(line, is_fenced)| {
            let content = line.trim_end().trim_start_matches('\u{feff}');
            let cells = cells(content).filter(|_| !is_fenced);
            let is_head = cells.as_deref().is_some_and(|cells| cells == HEAD);
            let is_delimiter = after_head && cells.as_deref().is_some_and(is_delimiter);
            after_head = is_head;
            let kind = if is_fenced {
                Line::Fenced
            } else if is_head || is_delimiter {
                Line::Table
            } else if content.trim() == EMPTY.trim_end() {
                Line::Empty
            } else {
                cells.as_deref().and_then(row).map_or(Line::Prose, Line::Row)
            };
            (line, kind)
        })
}

/// For each line, whether it is part of a fenced code block. An unclosed fence does not count, so it cannot hide rows.
fn fenced(text: &str) -> Vec<bool> {
    let lines: Vec<&str> = text.split_inclusive('\n').map(str::trim_end).collect();
    let mut fenced = vec![false; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let mut end = at;
        if let Some(fence) = fence_of(lines[at]) {
            let closes =
                |line: &str| fence_of(line).is_some_and(|close| close.starts_with(fence) && line.trim() == close);
            let Some(closing) = (at + 1..lines.len()).find(|&line| closes(lines[line])) else {
                break;
            };
            end = closing;
            fenced[at..=end].fill(true);
        }
        at = end + 1;
    }
    fenced
}

fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(' ');
    let marker = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(marker).len();
    (length >= 3 && !line[length..].contains('`')).then(|| &line[..length])
}

fn is_delimiter(cells: &[String]) -> bool {
    cells
        .iter()
        .all(|cell| cell.contains('-') && cell.trim_matches(':').bytes().all(|byte| byte == b'-'))
}

fn row(cells: &[String]) -> Option<Row> {
    let [path, intent_id, hash, locked] = cells else {
        return None;
    };
    let bare = |cell: &str| code(cell).unwrap_or_else(|| cell.to_owned());
    let is_locked = match locked.as_str() {
        "Yes" => true,
        "No" => false,
        _ => return None,
    };
    let intent_id = bare(intent_id);
    let path = parse_path(&code(path)?)?;
    crate::intent::is_valid_id(&intent_id).then(|| Row {
        path,
        intent_id,
        hash: LastHash::parse(&bare(hash)),
        is_locked,
    })
}

//! Writes the table into the file.

use unicode_width::UnicodeWidthStr;

use super::cells::{path_cell, span};
use super::lines::{Line, lines};
use super::row::{EMPTY, HEAD, Row};

/// The heading of a new file.
const HEADING: &str = "# Intent Map\n";

/// The text of the file with its rows replaced by `rows`, sorted by path.
pub fn write(text: &str, rows: &[Row]) -> String {
    let table = table(rows);
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let is_ours = |kind: &Line| matches!(kind, Line::Row(_) | Line::Table | Line::Empty);
    let mut written = String::with_capacity(text.len() + table.len());
    let mut is_written = false;
    // Without an empty line after the table, the next line of prose would become a row.
    let mut needs_gap = false;
    for (line, kind) in lines(text) {
        if !is_ours(&kind) {
            if needs_gap && !line.trim().is_empty() {
                written.push_str(newline);
            }
            needs_gap = false;
            written.push_str(line);
        } else if !is_written {
            open_gap(&mut written, newline);
            written.push_str(&table.replace('\n', newline));
            (is_written, needs_gap) = (true, true);
        }
    }
    if !is_written {
        if written.trim_start_matches('\u{feff}').trim().is_empty() {
            written.push_str(&HEADING.replace('\n', newline));
        }
        open_gap(&mut written, newline);
        written.push_str(&table.replace('\n', newline));
    }
    written
}

/// Terminates the last line, and appends an empty line after it.
fn open_gap(written: &mut String, newline: &str) {
    if written.is_empty() {
        return;
    }
    if !written.ends_with('\n') {
        written.push_str(newline);
    }
    let last = written.lines().next_back().unwrap_or_default();
    if !last.trim().is_empty() {
        written.push_str(newline);
    }
}

/// The table, its columns padded to their widest cell.
fn table(rows: &[Row]) -> String {
    if rows.is_empty() {
        return EMPTY.to_owned();
    }
    let mut rows: Vec<&Row> = rows.iter().collect();
    rows.sort_by(|a, b| (&a.path, &a.intent_id).cmp(&(&b.path, &b.intent_id)));
    let cells = |row: &Row| {
        let locked = if row.is_locked { "Yes" } else { "No" };
        let hash = row.hash.cell();
        [
            path_cell(&row.path),
            span(&row.intent_id),
            // A code span cannot be empty.
            if hash.is_empty() { hash } else { span(&hash) },
            locked.to_owned(),
        ]
    };
    let cells: Vec<[String; 4]> = std::iter::once(HEAD.map(str::to_owned))
        .chain(rows.into_iter().map(cells))
        .collect();
    let widths: [usize; 4] =
        std::array::from_fn(|column| cells.iter().map(|row| row[column].width()).max().unwrap_or(0));
    let mut table = String::new();
    for (number, row) in cells.iter().enumerate() {
        for (cell, width) in row.iter().zip(widths) {
            table.push_str("| ");
            table.push_str(cell);
            table.extend(std::iter::repeat_n(' ', width - cell.width() + 1));
        }
        table.push_str("|\n");
        if number == 0 {
            for width in widths {
                table.push_str("| :");
                table.extend(std::iter::repeat_n('-', width - 1));
                table.push(' ');
            }
            table.push_str("|\n");
        }
    }
    table
}

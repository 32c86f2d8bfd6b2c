//! Cells of the table: code spans, and the paths in them.

/// The cells of a row, which begins and ends with a pipe. Pipes separate cells; `\|` is a pipe in the text.
pub(super) fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    let mut cells = vec![String::new()];
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'|') => {
                chars.next();
                cells.last_mut()?.push('|');
            }
            '|' => cells.push(String::new()),
            c => cells.last_mut()?.push(c),
        }
    }
    Some(cells.into_iter().map(|cell| cell.trim().to_owned()).collect())
}

/// The text of a cell that is one code span.
pub(super) fn code(cell: &str) -> Option<String> {
    let ticks = cell.len() - cell.trim_start_matches('`').len();
    let inner = cell
        .get(ticks..)?
        .strip_suffix(&cell[..ticks])
        .filter(|inner| ticks > 0 && !inner.ends_with('`'))?;
    // A run of the same length inside would end the span there.
    let has_same_run = runs_of_backticks(inner).any(|run| run == ticks);
    if has_same_run || inner.is_empty() {
        return None;
    }
    let is_padded = inner.starts_with(' ') && inner.ends_with(' ') && !inner.trim().is_empty();
    Some(if is_padded {
        inner[1..inner.len() - 1].to_owned()
    } else {
        inner.to_owned()
    })
}

fn runs_of_backticks(text: &str) -> impl Iterator<Item = usize> {
    text.split(|c| c != '`').map(str::len).filter(|&run| run > 0)
}

/// The path in a code span: plain, or as a JSON string.
pub(super) fn parse_path(code: &str) -> Option<String> {
    if code.starts_with('"') {
        serde_json::from_str(code).ok()
    } else {
        Some(code.to_owned())
    }
}

/// A code span with a path. A path that a cell cannot represent becomes a JSON string.
pub(super) fn path_cell(path: &str) -> String {
    let is_plain = !path.is_empty()
        && !path.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
        && !path.starts_with('"')
        && path.trim() == path
        // In a cell, a backslash before a pipe means the pipe.
        && (!path.contains('\\') || !path.contains('|'));
    if is_plain {
        return span(path);
    }
    let mut json = String::from('"');
    for c in path.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '|' | '`' | '\u{2028}' | '\u{2029}' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if c.is_control() => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
    span(&json)
}

/// A code span, with pipes escaped. Its fence is the shortest that the text does not contain, as formatters choose it.
pub(super) fn span(text: &str) -> String {
    let runs: Vec<usize> = runs_of_backticks(text).collect();
    let ticks = "`".repeat((1..).find(|length| !runs.contains(length)).unwrap_or(1));
    let space = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{space}{}{space}{ticks}", text.replace('|', "\\|"))
}

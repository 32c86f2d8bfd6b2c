//! Scalars: the type of a plain one, and the notation in which every YAML reader takes a text for that text.

use std::fmt::Write;

use super::tree::Style;

/// The type of a plain scalar by the core schema of YAML 1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Bool,
}

/// The type of the plain scalar `text`. Callers handle empty scalars and `null` first.
pub(super) fn kind(text: &str) -> Kind {
    if matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE") {
        Kind::Bool
    } else if is_number(text) {
        Kind::Number
    } else {
        Kind::Text
    }
}

fn is_number(text: &str) -> bool {
    if let Some(digits) = text.strip_prefix("0x") {
        return !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return !digits.is_empty() && digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    // Rust parses the same decimal forms, and words such as `inf`, which the first check excludes.
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
        && unsigned.parse::<f64>().is_ok()
}

/// `text` on one line: in the style `old` if possible, else plain, else in the quotes that formatters choose.
pub(super) fn inline(text: &str, old: Style, in_flow: bool) -> String {
    match old {
        _ if text.chars().any(needs_escape) => double_quoted(text),
        Style::Single => single_quoted(text),
        Style::Double => double_quoted(text),
        _ if is_safe_plain(text, in_flow) => text.to_owned(),
        _ if text.contains(['"', '\\']) => single_quoted(text),
        _ => double_quoted(text),
    }
}

/// Whether `text` can be a block of lines (`|`): it has line breaks, and a block would lose nothing.
pub(super) fn is_block_text(text: &str) -> bool {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    lines.contains('\n')
        && !lines.starts_with([' ', '\n'])
        && !lines.ends_with([' ', '\n'])
        && !text.chars().any(|c| c != '\n' && needs_escape(c))
}

/// The header of the block for `text`.
pub(super) fn block_header(text: &str) -> &'static str {
    if text.ends_with('\n') { "|" } else { "|-" }
}

fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn is_safe_plain(text: &str, in_flow: bool) -> bool {
    // Some readers take these for numbers, dates or times. A full timestamp has letters; original files have it plain.
    let looks_like_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '.'))
        && (text.starts_with("0b") || !text.contains(|c: char| c.is_ascii_alphabetic()));
    // YAML 1.1 reads these as booleans, null or merge keys.
    let is_reserved_word = matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "=" | "<<"
    );
    !looks_like_number
        && !is_reserved_word
        && kind(text) == Kind::Text
        && !text.starts_with([
            '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`',
        ])
        && !text.starts_with(' ')
        && !text.starts_with("...")
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        // In a flow list or map, parsers refuse a plain scalar that ends with the word `-`.
        && !(in_flow && (text.ends_with(" -") || text.contains([',', '[', ']', '{', '}', ':', '?'])))
}

fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if needs_escape(c) => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

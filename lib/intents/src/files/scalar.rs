//! Scalars: the meaning of a plain one, and how a text is written so that every reader reads it as that text.

use std::fmt::Write;

use super::tree::Style;

/// The meaning of a plain scalar by the core schema of YAML 1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Bool,
}

/// The meaning of the plain scalar `text`; an empty one and `null` are handled before.
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
    // Rust reads the same decimal forms, and words besides.
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && unsigned
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-'))
        && unsigned.parse::<f64>().is_ok()
}

/// `text` in one line: in the style `old`, where that can hold it, and else plain, or in the quotes that formatters choose.
pub(super) fn inline(text: &str, old: Style, in_flow: bool) -> String {
    let plain = is_safe_plain(text, in_flow);
    match old {
        _ if text.chars().any(needs_escape) => double(text),
        Style::Single => single(text),
        Style::Double => double(text),
        _ if plain => text.to_owned(),
        _ if text.contains(['"', '\\']) => single(text),
        _ => double(text),
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
    // Numbers, dates and times of day to some reader. A whole timestamp has letters, and is plain in the original files.
    let like_a_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '.'))
        && (text.starts_with("0b") || !text.contains(|c: char| c.is_ascii_alphabetic()));
    // Words that YAML 1.1 reads as something else.
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "~" | "null" | "true" | "false" | "yes" | "no" | "on" | "off" | "y" | "n" | "=" | "<<"
    );
    !like_a_number
        && !word
        && kind(text) == Kind::Text
        && !text.starts_with([
            '-', '?', ':', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`',
        ])
        && !text.starts_with(' ')
        && !text.starts_with("...")
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        // Parsers refuse a word `-` right before the end of a plain scalar in a flow list or map.
        && !(in_flow && (text.ends_with(" -") || text.contains([',', '[', ']', '{', '}', ':', '?'])))
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn double(text: &str) -> String {
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

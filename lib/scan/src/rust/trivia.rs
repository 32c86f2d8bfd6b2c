//! White space and comments between tokens, and whole names and literals.

use std::ops::Range;

use crate::meter;

/// The name at `position`, without `r#`, and its end.
pub(super) fn ident(text: &[u8], position: usize) -> Option<(&str, usize)> {
    let is_name_start = |byte: &u8| is_name_byte(byte) && !byte.is_ascii_digit();
    let is_raw = text.get(position..position + 2) == Some(b"r#") && text.get(position + 2).is_some_and(is_name_start);
    let start = if is_raw { position + 2 } else { position };
    if !text.get(start).is_some_and(is_name_start) {
        return None;
    }
    let end = word_end(text, start);
    Some((std::str::from_utf8(&text[start..end]).ok()?, end))
}

pub(super) fn word_end(text: &[u8], position: usize) -> usize {
    let rest = text.get(position..).unwrap_or_default();
    let length = rest.iter().take_while(|byte| is_name_byte(byte)).count();
    meter::read(length);
    position + length
}

pub(super) fn is_name_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}

/// The end of the white space and comments at `position`.
#[inline]
pub fn skip(text: &[u8], position: usize) -> usize {
    let mut at = position;
    loop {
        match text.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) => at += 1,
            Some(b'/') if matches!(text.get(at + 1), Some(b'/' | b'*')) => at = comment_end(text, at),
            // Left-to-right marks and the line separators of Unicode are white space too.
            Some(0xe2) if matches!(text.get(at..at + 3), Some([_, 0x80, 0x8e | 0x8f | 0xa8 | 0xa9])) => at += 3,
            _ => {
                meter::read(at - position);
                return at;
            }
        }
    }
}

/// The end of the comment at `position`; block comments nest.
pub(super) fn comment_end(text: &[u8], position: usize) -> usize {
    if text.get(position + 1) == Some(&b'/') {
        let rest = text.get(position..).unwrap_or_default();
        return memchr::memchr(b'\n', rest).map_or(text.len(), |length| position + length);
    }
    let mut at = position + 2;
    let mut depth = 1;
    while depth > 0 {
        let rest = text.get(at..).unwrap_or_default();
        let Some(distance) = memchr::memchr2(b'/', b'*', rest) else {
            return text.len();
        };
        at += distance;
        match (text[at], text.get(at + 1)) {
            (b'/', Some(b'*')) => {
                depth += 1;
                at += 2;
            }
            (b'*', Some(b'/')) => {
                depth -= 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    at
}

/// The end of the string whose quote is at `quote_at`.
pub fn string_end(text: &[u8], quote_at: usize) -> usize {
    let mut at = quote_at + 1;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(distance) = memchr::memchr2(b'"', b'\\', rest) else {
            return text.len();
        };
        at += distance;
        if text[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
}

/// The content and the end of the raw string whose hashes, or quote, are at `position`; `None` where there is none.
pub fn raw_string(text: &[u8], position: usize) -> Option<(Range<usize>, usize)> {
    let hashes = text.get(position..)?.iter().take_while(|byte| **byte == b'#').count();
    let start = position + hashes + 1;
    if text.get(start - 1) != Some(&b'"') {
        return None;
    }
    let mut at = start;
    loop {
        let Some(distance) = memchr::memchr(b'"', text.get(at..)?) else {
            return Some((start..text.len(), text.len()));
        };
        at += distance + 1;
        let closing = text[at..].iter().take(hashes).take_while(|byte| **byte == b'#').count();
        if closing == hashes {
            return Some((start..at - 1, at + hashes));
        }
    }
}

/// The value and the end of the string literal at `position`. `None` where there is none, or one with escapes.
pub(super) fn literal(text: &[u8], position: usize) -> Option<(&str, usize)> {
    let (content, end) = match text.get(position)? {
        b'"' => {
            let end = string_end(text, position);
            (position + 1..end.checked_sub(1)?, end)
        }
        b'r' => raw_string(text, position + 1)?,
        _ => return None,
    };
    let is_raw = text[position] == b'r';
    let value = std::str::from_utf8(text.get(content)?).ok()?;
    (is_raw || !value.contains('\\')).then_some((value, end))
}

/// The end of the character literal at `position`, or of its quote where a lifetime follows.
#[inline]
pub fn character_end(text: &[u8], position: usize) -> usize {
    let width = match text.get(position + 1) {
        Some(b'\\') => {
            let rest = text.get(position + 3..).unwrap_or_default();
            // The longest is `'\u{10_ff_ff}'`. Underscores could make it longer, but no code does that.
            let end = rest.iter().take(24).position(|byte| *byte == b'\'');
            return end.map_or(position + 2, |length| position + 4 + length);
        }
        Some(0x00..=0x7f) => 1,
        Some(0x80..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(_) => 4,
        None => return text.len(),
    };
    if text.get(position + 1 + width) == Some(&b'\'') {
        position + 2 + width
    } else {
        position + 1
    }
}

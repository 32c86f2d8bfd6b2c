//! White space and comments between tokens.

use crate::javascript::bytes::word_end;
use crate::javascript::bytes::{CLASS, Class, wide_space};
use crate::meter;

/// The first byte at or after `position` that is neither white space nor in a comment.
#[inline]
pub fn skip(text: &[u8], position: usize) -> usize {
    let mut at = position;
    while let Some(&byte) = text.get(at) {
        match CLASS[usize::from(byte)] {
            Class::Space => at += 1,
            Class::Slash => match comment_end(text, at) {
                Some(end) => at = end,
                None => break,
            },
            Class::Word if byte >= 0x80 => match wide_space(text, at) {
                0 => break,
                width => at += width,
            },
            _ => break,
        }
    }
    meter::read(at - position);
    at
}

/// The end of the comment at `position`, if there is one.
#[inline]
pub fn comment_end(text: &[u8], position: usize) -> Option<usize> {
    match text.get(position + 1) {
        Some(b'/') => Some(line_end(text, position)),
        Some(b'*') => Some(block_end(text, position)),
        _ => None,
    }
}

/// The line break at or after `position`, or the end of the text. The line and paragraph separators of Unicode are line
/// breaks too.
#[inline]
pub fn line_end(text: &[u8], position: usize) -> usize {
    let mut at = position;
    while let Some(distance) = text
        .get(at..)
        .and_then(|rest| memchr::memchr3(b'\n', b'\r', 0xe2, rest))
    {
        at += distance;
        let is_other_character = text[at] == 0xe2 && !matches!(text.get(at + 1..at + 3), Some([0x80, 0xa8 | 0xa9]));
        if !is_other_character {
            meter::read(at - position);
            return at;
        }
        at += 1;
    }
    meter::read(text.len().saturating_sub(position));
    text.len()
}

/// The first byte after the `/* */` comment at `position`, or the end of the text.
pub(super) fn block_end(text: &[u8], position: usize) -> usize {
    let mut at = position + 2;
    while let Some(distance) = text.get(at..).and_then(|rest| memchr::memchr(b'/', rest)) {
        at += distance + 1;
        if at > position + 3 && text[at - 2] == b'*' {
            meter::read(at - position);
            return at;
        }
    }
    meter::read(text.len() - position);
    text.len()
}

/// The name at `position`; empty where there is none.
#[inline]
pub fn word(text: &[u8], position: usize) -> &[u8] {
    text.get(position..word_end(text, position)).unwrap_or_default()
}

/// The position after white space at `position`, and the byte there.
pub(super) fn next(text: &[u8], position: usize) -> (usize, Option<u8>) {
    let at = skip(text, position);
    (at, text.get(at).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trivia_is_white_space_and_comments_of_both_kinds() {
        for (text, end) in [
            ("", 0),
            ("x", 0),
            (" \t\r\n\u{c}x", 5),
            ("\u{a0}\u{2028}\u{feff}x", 8),
            ("/**/x", 4),
            ("/*/ */x", 6),
            ("/***/x", 5),
            ("/* * / **/ // y\n x", 17),
            ("// y", 4),
            ("// é\u{2028}x", 8),
            ("// \u{2019}\u{2029}\u{2028} x", 13),
            ("/* y", 4),
            ("/*/", 3),
            ("/ x", 0),
            ("é", 0),
        ] {
            assert_eq!(skip(text.as_bytes(), 0), end, "{text:?}");
        }
    }
}

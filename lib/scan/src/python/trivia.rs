//! White space, continuations and comments between the tokens of a statement.

use crate::meter;

/// The line break at or after `position`, or the end of the text.
#[inline]
pub fn line_end(text: &[u8], position: usize) -> usize {
    let rest = text.get(position..).unwrap_or_default();
    let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    meter::read(length);
    position + length
}

/// The position after white space and continued line ends; in parentheses also after line ends and comments.
pub(super) fn skip(text: &[u8], position: usize, in_parentheses: bool) -> usize {
    let mut at = position;
    while let Some(&byte) = text.get(at) {
        match byte {
            b' ' | b'\t' | b'\x0c' => at += 1,
            b'\\' => match text.get(at + 1..) {
                Some([b'\r', b'\n', ..]) => at += 3,
                Some([b'\n' | b'\r', ..]) => at += 2,
                _ => break,
            },
            b'\n' | b'\r' if in_parentheses => at += 1,
            b'#' if in_parentheses => at = line_end(text, at),
            _ => break,
        }
    }
    meter::read(at - position);
    at
}

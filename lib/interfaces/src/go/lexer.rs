//! The tokens of Go.

use crate::InterfaceUnknown;
use crate::tokens::{Kind, Tokens, is_name_byte, name_end};

/// The tokens of `text`.
///
/// # Errors
/// When brackets do not match, or a comment or raw string has no end.
pub(super) fn tokens(text: &[u8]) -> Result<Tokens<'_>, InterfaceUnknown> {
    let mut tokens = Tokens::new(text);
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    while let Some(&byte) = text.get(at) {
        let start = at;
        let rest = &text[at..];
        match byte {
            b'\n' => {
                tokens.at_line_start = true;
                at += 1;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b'/' if rest.get(1) == Some(&b'/') => at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if rest.get(1) == Some(&b'*') => {
                let end = memchr::memmem::find(&rest[2..], b"*/").ok_or(InterfaceUnknown::NotUnderstood)? + 4;
                // A comment with a line break counts as a line break.
                tokens.at_line_start |= memchr::memchr(b'\n', &rest[..end]).is_some();
                at += end;
            }
            b'(' | b'[' | b'{' => {
                at += 1;
                tokens.open(start..at);
            }
            b')' | b']' | b'}' => {
                at += 1;
                tokens.close(start..at)?;
            }
            b'`' => {
                at += memchr::memchr(b'`', &rest[1..]).ok_or(InterfaceUnknown::NotUnderstood)? + 2;
                tokens.push(Kind::Text, start..at);
            }
            b'"' | b'\'' => {
                at = quoted_end(text, start).ok_or(InterfaceUnknown::NotUnderstood)?;
                tokens.push(Kind::Text, start..at);
            }
            b'0'..=b'9' => {
                at = number_end(text, start);
                tokens.push(Kind::Number, start..at);
            }
            _ if is_name_byte(byte) => {
                at = name_end(text, start);
                tokens.push(Kind::Word, start..at);
            }
            _ => {
                at += if rest.starts_with(b"...") {
                    3
                } else if matches!(rest.get(..2), Some(b":=" | b"<-" | b"==" | b"!=" | b"<=" | b">=")) {
                    2
                } else {
                    1
                };
                tokens.push(Kind::Punct, start..at);
            }
        }
    }
    tokens.finish()
}

fn quoted_end(text: &[u8], start: usize) -> Option<usize> {
    let quote = text[start];
    let mut at = start + 1;
    loop {
        match *text.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn number_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        let is_exponent_sign = at > start
            && matches!(byte, b'+' | b'-')
            && matches!(text[at - 1], b'e' | b'E' | b'p' | b'P')
            && text[start..at].contains(&b'.');
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || is_exponent_sign) {
            break;
        }
        at += 1;
    }
    at
}

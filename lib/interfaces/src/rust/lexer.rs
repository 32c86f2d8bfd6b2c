//! The tokens of Rust.

use coord_scan::rust::trivia::{character_end, raw_string, skip, string_end};

use crate::InterfaceUnknown;
use crate::tokens::{Kind, Tokens, is_name_byte, name_end};

/// The tokens of `text`.
///
/// # Errors
/// When brackets do not match.
pub(super) fn tokens(text: &[u8]) -> Result<Tokens<'_>, InterfaceUnknown> {
    let mut tokens = Tokens::new(text);
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    if text[at..].starts_with(b"#!") && !text[at..].starts_with(b"#![") {
        at = memchr::memchr(b'\n', text).unwrap_or(text.len());
    }
    loop {
        at = skip(text, at);
        let Some(&byte) = text.get(at) else { break };
        let start = at;
        match byte {
            b'(' | b'[' | b'{' => {
                at += 1;
                tokens.open(start..at);
            }
            b')' | b']' | b'}' => {
                at += 1;
                tokens.close(start..at)?;
            }
            b'"' => {
                at = string_end(text, start).min(text.len());
                tokens.push(Kind::Text, start..at);
            }
            b'\'' => {
                let end = character_end(text, start);
                if end == start + 1 {
                    at = name_end(text, end);
                    tokens.push(Kind::Punct, start..at);
                } else {
                    at = end.min(text.len());
                    tokens.push(Kind::Text, start..at);
                }
            }
            b'0'..=b'9' => {
                at = name_end(text, start);
                let is_fraction = text.get(at) == Some(&b'.') && text.get(at + 1).is_some_and(u8::is_ascii_digit);
                if is_fraction {
                    at = name_end(text, at + 1);
                }
                tokens.push(Kind::Number, start..at);
            }
            _ if is_name_byte(byte) => {
                at = name_end(text, start);
                if let Some(end) = literal_end(text, start, at) {
                    at = end;
                    tokens.push(Kind::Text, start..at);
                } else if &text[start..at] == b"r" && text.get(at) == Some(&b'#') {
                    // A raw name is the same as the plain one.
                    at = name_end(text, at + 1);
                    tokens.push(Kind::Word, start + 2..at);
                } else {
                    tokens.push(Kind::Word, start..at);
                }
            }
            _ => {
                let pair = text.get(start..start + 2).unwrap_or_default();
                at += if matches!(pair, b"->" | b"=>" | b"::" | b"..") {
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

/// The end of the literal whose prefix is from `start` to `quote`: `b"..."`, `br#"..."#`, `b'a'`.
fn literal_end(text: &[u8], start: usize, quote: usize) -> Option<usize> {
    match (&text[start..quote], text.get(quote)?) {
        (b"b" | b"c", b'"') => Some(string_end(text, quote).min(text.len())),
        (b"b", b'\'') => Some(character_end(text, quote).min(text.len())),
        (b"r" | b"br" | b"cr", b'"' | b'#') => raw_string(text, quote).map(|(_, end)| end.min(text.len())),
        _ => None,
    }
}

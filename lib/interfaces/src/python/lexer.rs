//! The tokens of Python, in logical lines.

use std::ops::Range;

use coord_scan::Findings;
use coord_scan::python::bytes::word_end;
use coord_scan::python::{Scanner, trivia};

use crate::InterfaceUnknown;
use crate::tokens::{Kind, Tokens, number_end};

/// A logical line: one or more statements, with their indentation.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) indentation: usize,
    pub(super) tokens: Range<usize>,
}

/// Columns from one tab stop to the next.
const TAB: usize = 8;
/// Signs of more than one byte, longer ones first.
const PUNCTUATION: [&[u8]; 22] = [
    b"...", b"**=", b"//=", b">>=", b"<<=", b"->", b":=", b"==", b"!=", b"<=", b">=", b"+=", b"-=", b"*=", b"/=",
    b"%=", b"@=", b"&=", b"|=", b"^=", b"**", b"//",
];

/// The tokens of `text`, and its logical lines.
///
/// # Errors
/// When brackets do not match.
pub(super) fn lines(text: &[u8]) -> Result<(Tokens<'_>, Vec<Line>), InterfaceUnknown> {
    let mut tokens = Tokens::new(text);
    let mut lines = Vec::new();
    // Imports in the fields of strings are not used.
    let mut findings = Findings::default();
    let mut strings = Scanner::new(text, &mut findings);
    let mut at = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let (mut indentation, mut first) = (0, 0);
    while let Some(&byte) = text.get(at) {
        let start = at;
        match byte {
            b'\n' | b'\r' => {
                at += 1;
                if tokens.depth() == 0 {
                    if tokens.len() > first {
                        lines.push(Line {
                            indentation,
                            tokens: first..tokens.len(),
                        });
                    }
                    (first, indentation) = (tokens.len(), 0);
                }
            }
            b' ' | b'\t' | b'\x0c' => {
                at += 1;
                if tokens.len() == first && tokens.depth() == 0 {
                    indentation = match byte {
                        b'\t' => (indentation / TAB + 1) * TAB,
                        b' ' => indentation + 1,
                        _ => 0,
                    };
                }
            }
            b'\\' => at += if text[at..].starts_with(b"\\\r\n") { 3 } else { 2 },
            b'#' => at = trivia::line_end(text, at),
            b'(' | b'[' | b'{' => {
                tokens.open(at..at + 1);
                at += 1;
            }
            b')' | b']' | b'}' => {
                tokens.close(at..at + 1)?;
                at += 1;
            }
            b'"' | b'\'' => {
                at = strings.string_end(start).max(start + 1);
                tokens.push(Kind::Text, start..at);
            }
            b'0'..=b'9' => {
                at = number_end(text, start);
                tokens.push(Kind::Number, start..at);
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => {
                at = word_end(text, start + 1);
                if at - start <= 2 && matches!(text.get(at), Some(b'"' | b'\'')) && is_prefix(&text[start..at]) {
                    at = strings.string_end(start).max(at + 1);
                    tokens.push(Kind::Text, start..at);
                } else {
                    tokens.push(Kind::Word, start..at);
                }
            }
            _ => {
                let length = PUNCTUATION
                    .iter()
                    .find(|punct| text[at..].starts_with(punct))
                    .map_or(1, |punct| punct.len());
                at += length;
                tokens.push(Kind::Punct, start..at);
            }
        }
    }
    if tokens.len() > first {
        lines.push(Line {
            indentation,
            tokens: first..tokens.len(),
        });
    }
    Ok((tokens.finish()?, lines))
}

fn is_prefix(word: &[u8]) -> bool {
    word.iter()
        .all(|byte| matches!(byte.to_ascii_lowercase(), b'r' | b'b' | b'u' | b'f' | b't'))
}

//! The tokens of a script.

use coord_scan::javascript::bytes::{is_word, word_end};
use coord_scan::javascript::{literal, regex, trivia};
use coord_scan::meter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// A string or template without escapes or holes.
    Text(&'t str),
    Name(&'t str),
    Punct(u8),
    /// Any other string, a piece of a template, or a regular expression.
    Operand,
}

pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    // The number of open braces in each open hole of a template.
    let mut holes: Vec<usize> = Vec::new();
    let mut at = trivia::skip(bytes, 0);
    while let Some(byte) = bytes.get(at).copied() {
        let (token, end) = match byte {
            b'"' | b'\'' => match literal::string_end(bytes, at) {
                (end, true) => (string_token(text, at, end), end),
                (end, false) => (Token::Operand, end),
            },
            b'`' => template(text, at, &mut holes),
            b'}' if holes.pop_if(|open| *open == 0).is_some() => template(text, at, &mut holes),
            b'/' if tokens.last().is_none_or(expects_expression) => match regex::regex_end(bytes, at) {
                Ok(end) => (Token::Operand, word_end(bytes, end)),
                // Not a regular expression after all. The error affects one line, and nothing reads the line twice.
                Err(length) => (Token::Operand, at + length),
            },
            _ if is_word(byte) => {
                let end = word_end(bytes, at);
                (Token::Name(text.get(at..end).unwrap_or_default()), end)
            }
            punct => {
                if let Some(open) = holes.last_mut() {
                    match punct {
                        b'{' => *open += 1,
                        b'}' => *open -= 1,
                        _ => {}
                    }
                }
                (Token::Punct(punct), at + 1)
            }
        };
        meter::read(end - at);
        tokens.push(token);
        at = trivia::skip(bytes, end);
    }
    tokens
}

/// The token of a piece of a template, and its end. The piece begins at `start` with a backtick or with the closing
/// brace of a hole.
fn template<'t>(text: &'t str, start: usize, holes: &mut Vec<usize>) -> (Token<'t>, usize) {
    match literal::template_end(text.as_bytes(), start + 1) {
        Some((end, false)) if text.as_bytes().get(start) == Some(&b'`') => (string_token(text, start, end), end),
        Some((end, opens_hole)) => {
            if opens_hole {
                holes.push(0);
            }
            (Token::Operand, end)
        }
        None => (Token::Operand, text.len()),
    }
}

/// The token of the string from `start` to `end`, quotes included.
fn string_token(text: &str, start: usize, end: usize) -> Token<'_> {
    let content = text.get(start + 1..end - 1).filter(|text| !text.contains(['\\', '\n']));
    content.map_or(Token::Operand, Token::Text)
}

/// Whether a slash after `token` begins a regular expression. A brace more likely closes a block than a dividend.
fn expects_expression(token: &Token<'_>) -> bool {
    match token {
        Token::Text(_) | Token::Operand | Token::Punct(b')' | b']') => false,
        Token::Name(name) => regex::BEFORE_EXPRESSION.contains(&name.as_bytes()),
        Token::Punct(_) => true,
    }
}

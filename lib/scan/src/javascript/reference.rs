//! `/// <reference path="..." />` and `types="..."` directives, which count only before the first token of a file.

use crate::import_kind::ImportKind;
use crate::javascript::bytes::{CLASS, Class};
use crate::javascript::literal::{Literal, quoted_string};
use crate::javascript::scanner::Scanner;
use crate::javascript::trivia;
use crate::specifier::TYPES;

/// Adds the directives at the scanner's position, which does not move.
pub(super) fn add_directives(scanner: &mut Scanner<'_, '_>) {
    let mut at = scanner.position;
    while let Some(&byte) = scanner.text.get(at) {
        match CLASS[usize::from(byte)] {
            Class::Space => at += 1,
            Class::Slash => {
                let Some(end) = trivia::comment_end(scanner.text, at) else {
                    return;
                };
                if let Some((literal, name)) = reference(&scanner.text[..end], at) {
                    scanner.emit_named(&literal, name, ImportKind::Reference);
                }
                at = end;
            }
            _ => return,
        }
    }
}

/// The path or the types of the directive in the comment from `start` to the end of `text`. Types have a name.
fn reference(text: &[u8], start: usize) -> Option<(Literal, Option<&'static str>)> {
    let spaces = |at: usize| at + text[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    if !text[start..].starts_with(b"///") {
        return None;
    }
    let mut at = spaces(start + 3);
    if !text[at..].starts_with(b"<reference") {
        return None;
    }
    at += b"<reference".len();
    loop {
        let name = spaces(at);
        let name_end = name
            + text[name..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'-')
                .count();
        let equals = spaces(name_end);
        if name == name_end || text.get(equals) != Some(&b'=') {
            return None;
        }
        let value = quoted_string(text, spaces(equals + 1))?;
        if text[name..name_end].eq_ignore_ascii_case(b"path") {
            return Some((value, None));
        }
        if text[name..name_end].eq_ignore_ascii_case(b"types") {
            return Some((value, Some(TYPES)));
        }
        at = value.end;
    }
}

//! `import a.b as c, d` and `from a.b import (c, d as e)`.

use crate::import_kind::ImportKind;
use crate::python::bytes::{CLASS, Class, word_end};
use crate::python::scanner::Scanner;
use crate::python::trivia::skip;

/// Whether the letters `import` may be an import, by the text after them: whitespace and a name, names in parentheses,
/// a continued line, or the rest of `import_module` and `__import__`.
pub(super) fn may_import(rest: &[u8]) -> bool {
    match rest.first() {
        Some(b' ' | b'\t' | b'\x0c') => {
            let next = rest.get(skip(rest, 0, false));
            next.is_some_and(|byte| matches!(byte, b'(' | b'*') || CLASS[usize::from(*byte)] == Class::Word)
        }
        Some(b'_' | b'(' | b'*' | b'\\') => true,
        _ => false,
    }
}

impl Scanner<'_, '_> {
    /// `import` at `start`; the position is after the word.
    pub(super) fn import(&mut self, start: usize) {
        loop {
            let mut module = String::new();
            let at = skip(self.text, self.position, false);
            let Some(end) = read_dotted_name(self.text, at, &mut module) else {
                return;
            };
            self.position = end;
            self.emit(start, module, None, ImportKind::Import);
            let mut at = skip(self.text, end, false);
            if word_at(self.text, at) == b"as" {
                let alias = skip(self.text, at + 2, false);
                at = skip(self.text, word_end(self.text, alias), false);
            }
            if self.text.get(at) != Some(&b',') {
                return;
            }
            self.position = at + 1;
        }
    }

    /// `from` at `start`; the position is after the word.
    pub(super) fn from(&mut self, start: usize) {
        let mut module = String::new();
        let mut at = skip(self.text, self.position, false);
        while self.text.get(at) == Some(&b'.') {
            module.push('.');
            at = skip(self.text, at + 1, false);
        }
        let is_relative = !module.is_empty();
        if word_at(self.text, at) != b"import" {
            let Some(end) = read_dotted_name(self.text, at, &mut module) else {
                return;
            };
            at = skip(self.text, end, false);
        } else if !is_relative {
            return;
        }
        if word_at(self.text, at) == b"import" {
            self.position = at + 6;
            self.read_names(start, &module);
        }
    }

    /// Reads the names after `from module import`.
    fn read_names(&mut self, start: usize, module: &str) {
        let mut at = skip(self.text, self.position, false);
        let in_parentheses = self.text.get(at) == Some(&b'(');
        if in_parentheses {
            at = skip(self.text, at + 1, true);
        } else if self.text.get(at) == Some(&b'*') {
            self.position = at + 1;
            return self.emit(start, module.to_owned(), Some("*".to_owned()), ImportKind::Import);
        }
        while let Some(name) = parse_name(word_at(self.text, at)) {
            if !self.findings.is_full() {
                self.emit(start, module.to_owned(), Some(name.to_owned()), ImportKind::Import);
            }
            at = skip(self.text, at + name.len(), in_parentheses);
            if word_at(self.text, at) == b"as" {
                let alias = skip(self.text, at + 2, in_parentheses);
                at = skip(self.text, word_end(self.text, alias), in_parentheses);
            }
            self.position = at;
            if self.text.get(at) != Some(&b',') {
                break;
            }
            at = skip(self.text, at + 1, in_parentheses);
        }
    }
}

/// The name at `position`; empty where there is none.
fn word_at(text: &[u8], position: usize) -> &[u8] {
    text.get(position..word_end(text, position)).unwrap_or_default()
}

/// Appends the dotted name at `position` to `module`; returns its end.
fn read_dotted_name(text: &[u8], position: usize, module: &mut String) -> Option<usize> {
    let mut at = position;
    loop {
        let end = word_end(text, at);
        module.push_str(parse_name(text.get(at..end)?)?);
        let dot = skip(text, end, false);
        if text.get(dot) != Some(&b'.') {
            return Some(end);
        }
        module.push('.');
        at = skip(text, dot + 1, false);
    }
}

/// A name: valid UTF-8 that does not begin with a digit and is not a keyword of these statements.
fn parse_name(word: &[u8]) -> Option<&str> {
    let is_keyword = matches!(word, b"import" | b"from" | b"as");
    let is_name = !is_keyword && word.first().is_some_and(|byte| !byte.is_ascii_digit());
    is_name.then(|| std::str::from_utf8(word).ok()).flatten()
}

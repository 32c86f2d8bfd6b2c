//! Imports of Go. They precede every other declaration, so that only the head of a file is read.
//!
//! Build constraints are not evaluated: the graph covers all systems at once. The one exception is a file that no system
//! builds: its constraint requires the tag `ignore`, which keeps a program out of the package beside it, or its package is
//! `documentation`. Such a file has an [`ImportKind::Constraint`]; its own imports count.

mod constraint;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use crate::findings::Findings;
use crate::import_kind::ImportKind;
use crate::lines::Lines;
use crate::meter;
use crate::specifier::{MAX_SPECIFIER_BYTES, Specifier};

/// The package whose files go/build leaves out.
const DOCUMENTATION: &[u8] = b"documentation";

/// Appends the imports of `text` to `found`.
pub(super) fn scan(text: &[u8], found: &mut Findings) {
    Scanner::new(text, found).scan_file();
}

/// A scan of one text.
struct Scanner<'t, 'f> {
    text: &'t [u8],
    position: usize,
    lines: Lines,
    /// Paths that were found already: another name for one adds nothing.
    known: HashSet<&'t str>,
    found: &'f mut Findings,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends imports to `found`.
    fn new(text: &'t [u8], found: &'f mut Findings) -> Self {
        Scanner {
            text,
            position: if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 },
            lines: Lines::new(text),
            known: HashSet::new(),
            found,
        }
    }

    /// Scans up to the last import.
    fn scan_file(&mut self) {
        let head = self.position;
        self.position = skip(self.text, head);
        let package_at = self.position;
        let ignored = constraint::ignored(self.text, head, package_at);
        if let Some(at) = ignored {
            self.emit(at, "ignore", ImportKind::Constraint);
        }
        if self.word() != b"package" {
            return;
        }
        self.position = skip(self.text, self.position);
        if self.word() == DOCUMENTATION && ignored.is_none() {
            self.emit(package_at, "documentation", ImportKind::Constraint);
        }
        loop {
            self.position = skip_separators(self.text, self.position);
            if self.word() != b"import" {
                return;
            }
            self.position = skip(self.text, self.position);
            if self.text.get(self.position) != Some(&b'(') {
                self.import();
                continue;
            }
            self.position += 1;
            loop {
                self.position = skip_separators(self.text, self.position);
                if self.text.get(self.position) == Some(&b')') {
                    self.position += 1;
                    break;
                }
                if !self.import() {
                    return;
                }
            }
        }
    }

    /// Consumes the name at the position.
    fn word(&mut self) -> &'t [u8] {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte >= 0x80;
        let length = rest.iter().take_while(is_word).count();
        meter::read(length);
        self.position += length;
        &rest[..length]
    }

    /// Reads `"path"` with an optional name, `.` or `_` before it. Returns whether there was one.
    fn import(&mut self) -> bool {
        let text: &'t [u8] = self.text;
        if self.text.get(self.position) == Some(&b'.') {
            self.position += 1;
        } else {
            self.word();
        }
        self.position = skip(self.text, self.position);
        let start = self.position;
        let Some(quote @ (b'"' | b'`')) = self.text.get(start).copied() else {
            return false;
        };
        let rest = &text[start + 1..];
        let rest = &rest[..rest.len().min(MAX_SPECIFIER_BYTES)];
        let Some(length) = memchr::memchr2(quote, b'\n', rest).filter(|at| rest[*at] == quote) else {
            return false;
        };
        meter::read(length);
        self.position = start + length + 2;
        // Paths have no escapes in practice, and the compiler rejects most characters that these could write.
        if let Ok(path) = std::str::from_utf8(&rest[..length])
            && !path.contains('\\')
            && !self.found.is_full()
            && self.known.insert(path)
        {
            self.emit(start, path, ImportKind::Import);
        }
        true
    }

    fn emit(&mut self, position: usize, text: &str, kind: ImportKind) {
        let line = self.lines.at(self.text, position);
        self.found.push(Specifier {
            text: text.to_owned(),
            name: None,
            kind,
            line,
        });
    }
}

/// The end of the white space and comments at `position`.
fn skip(text: &[u8], position: usize) -> usize {
    let mut at = position;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        match rest {
            [b' ' | b'\t' | b'\n' | b'\r', ..] => at += 1,
            [b'/', b'/', ..] => at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            [b'/', b'*', ..] => {
                let end = memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |length| length + 4);
                at += end;
            }
            _ => {
                meter::read(at - position);
                return at;
            }
        }
    }
}

/// [`skip`], which also skips the semicolons between declarations.
fn skip_separators(text: &[u8], position: usize) -> usize {
    let mut at = skip(text, position);
    while text.get(at) == Some(&b';') {
        at = skip(text, at + 1);
    }
    at
}

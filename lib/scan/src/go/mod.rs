//! Go imports. They precede every other declaration, so the scanner reads only the head of a file.
//!
//! The scanner does not evaluate build constraints, because the graph covers all systems at once. The one exception is
//! a file that no system builds: its constraint requires the tag `ignore`, which keeps a program out of the package
//! next to it, or its package is `documentation`. Such a file has an [`ImportKind::Constraint`]. Its own imports count.

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

/// Appends the imports of `text` to `findings`.
pub(super) fn scan(text: &[u8], findings: &mut Findings) {
    Scanner::new(text, findings).scan_file();
}

/// A scan of one text.
struct Scanner<'t, 'f> {
    text: &'t [u8],
    position: usize,
    lines: Lines,
    /// Paths imported so far: another import of the same path adds nothing.
    seen: HashSet<&'t str>,
    findings: &'f mut Findings,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends imports to `findings`.
    fn new(text: &'t [u8], findings: &'f mut Findings) -> Self {
        Scanner {
            text,
            position: if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 },
            lines: Lines::new(text),
            seen: HashSet::new(),
            findings,
        }
    }

    /// Scans up to the last import.
    fn scan_file(&mut self) {
        let head = self.position;
        self.position = skip(self.text, head);
        let package_at = self.position;
        let unmet = constraint::find_unmet(self.text, head, package_at);
        if let Some(at) = unmet {
            self.emit(at, "ignore", ImportKind::Constraint);
        }
        if self.take_word() != b"package" {
            return;
        }
        self.position = skip(self.text, self.position);
        if self.take_word() == DOCUMENTATION && unmet.is_none() {
            self.emit(package_at, "documentation", ImportKind::Constraint);
        }
        loop {
            self.position = skip_separators(self.text, self.position);
            if self.take_word() != b"import" {
                return;
            }
            self.position = skip(self.text, self.position);
            if self.text.get(self.position) != Some(&b'(') {
                self.read_import();
                continue;
            }
            self.position += 1;
            loop {
                self.position = skip_separators(self.text, self.position);
                if self.text.get(self.position) == Some(&b')') {
                    self.position += 1;
                    break;
                }
                if !self.read_import() {
                    return;
                }
            }
        }
    }

    /// Consumes the name at the position.
    fn take_word(&mut self) -> &'t [u8] {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte >= 0x80;
        let length = rest.iter().take_while(is_word).count();
        meter::read(length);
        self.position += length;
        &rest[..length]
    }

    /// Reads `"path"` with an optional name, `.` or `_` before it. Returns whether there was one.
    fn read_import(&mut self) -> bool {
        let text: &'t [u8] = self.text;
        if self.text.get(self.position) == Some(&b'.') {
            self.position += 1;
        } else {
            self.take_word();
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
        // Paths have no escapes in practice, and the compiler rejects most characters that an escape could stand for.
        if let Ok(path) = std::str::from_utf8(&rest[..length])
            && !path.contains('\\')
            && !self.findings.is_full()
            && self.seen.insert(path)
        {
            self.emit(start, path, ImportKind::Import);
        }
        true
    }

    fn emit(&mut self, position: usize, text: &str, kind: ImportKind) {
        let line = self.lines.at(self.text, position);
        self.findings.push(Specifier {
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
                at += memchr::memmem::find(&rest[2..], b"*/").map_or(rest.len(), |length| length + 4);
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

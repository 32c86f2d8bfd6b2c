//! Imports of Python, read without building a syntax tree.
//!
//! `import` is a keyword that no expression has, so the word outside strings and comments is an import statement,
//! whatever block it stands in; `from` is one where names and `import` follow on its logical line, which tells it from
//! `yield from` and `raise ... from`. So brackets and indentation need no attention, only strings and comments do.
//! `import` is in every form of import, `import_module` and `__import__` included: nothing behind the last one is read.

mod call;
mod statement;
mod string;
#[cfg(test)]
mod tests;
mod trivia;

use std::sync::LazyLock;

use super::last_word::Words;
use super::lines::Lines;
use super::meter;
use super::{ImportKind, Specifier};

static IMPORT: LazyLock<Words> = LazyLock::new(|| Words::new(&[("import", statement::may_import)]));

/// The class of a byte in code.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Class {
    /// Bytes that neither begin nor end anything here.
    Other,
    /// Letters, digits, `_` and everything beyond ASCII.
    Word,
    Quote,
    Comment,
}

static CLASS: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80..=0xff => Class::Word,
            b'\'' | b'"' => Class::Quote,
            b'#' => Class::Comment,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
}

/// Where the name or number that begins at `position` ends.
fn word_end(text: &[u8], position: usize) -> usize {
    let mut end = position;
    while text
        .get(end)
        .is_some_and(|byte| CLASS[usize::from(*byte)] == Class::Word)
    {
        end += 1;
    }
    meter::read(end - position);
    end
}

/// A text that is being scanned.
pub(super) struct Scanner<'t, 'f> {
    text: &'t [u8],
    position: usize,
    /// Open replacement fields and the formatted strings around them.
    frames: Vec<string::Frame>,
    lines: Lines,
    found: &'f mut Vec<Specifier>,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends what it finds to `found`.
    pub(super) fn new(text: &'t [u8], found: &'f mut Vec<Specifier>) -> Self {
        let position = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Scanner {
            text,
            position,
            frames: Vec::new(),
            lines: Lines::new(text),
            found,
        }
    }

    /// Scans the whole text.
    pub(super) fn scan_file(&mut self) {
        let Some(last) = IMPORT.last_in(self.text) else { return };
        while let Some(&byte) = self.text.get(self.position)
            && self.position <= last
        {
            meter::read(1);
            match CLASS[usize::from(byte)] {
                Class::Other => self.position += 1,
                Class::Word => self.word(byte),
                Class::Quote => self.string(self.position),
                Class::Comment => self.position = trivia::line_end(self.text, self.position),
            }
        }
    }

    /// Takes a name or a number, or the prefix of a string with that string.
    fn word(&mut self, first: u8) {
        let start = self.position;
        let end = word_end(self.text, start + 1);
        self.position = end;
        if matches!(self.text.get(end), Some(b'"' | b'\'')) {
            return self.string(start);
        }
        match first {
            b'i' => match &self.text[start..end] {
                b"import" => self.import(start),
                b"import_module" => self.import_module(),
                _ => {}
            },
            b'f' if &self.text[start..end] == b"from" => self.from(start),
            b'_' if &self.text[start..end] == b"__import__" => self.import_module(),
            _ => {}
        }
    }

    /// Notes an import that stands at `position`.
    fn emit(&mut self, position: usize, text: String, name: Option<String>, kind: ImportKind) {
        if text.len() <= super::MAX_SPECIFIER_BYTES {
            let line = self.lines.at(self.text, position);
            self.found.push(Specifier { text, name, kind, line });
        }
    }
}

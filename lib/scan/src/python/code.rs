//! Code: names, strings and comments, up to the last `import`.

use std::sync::LazyLock;

use crate::last_word::Words;
use crate::meter;
use crate::python::bytes::{CLASS, Class, word_end};
use crate::python::scanner::Scanner;
use crate::python::{statement, trivia};

static IMPORT: LazyLock<Words> = LazyLock::new(|| Words::new(&[("import", statement::may_import)]));

impl Scanner<'_, '_> {
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

    /// Consumes a name or a number, or a string with its prefix.
    pub(super) fn word(&mut self, first: u8) {
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
}

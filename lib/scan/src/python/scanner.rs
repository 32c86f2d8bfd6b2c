//! The state of a scan, and the imports found so far.

use crate::findings::Findings;
use crate::import_kind::ImportKind;
use crate::lines::Lines;
use crate::python::frame::Frame;
use crate::specifier::{MAX_SPECIFIER_BYTES, Specifier};

/// A scan of one text.
pub struct Scanner<'t, 'f> {
    pub(super) text: &'t [u8],
    pub(super) position: usize,
    /// Open replacement fields and the formatted strings around them.
    pub(super) frames: Vec<Frame>,
    pub(super) lines: Lines,
    pub(super) found: &'f mut Findings,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends imports to `found`.
    pub fn new(text: &'t [u8], found: &'f mut Findings) -> Self {
        let position = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Scanner {
            text,
            position,
            frames: Vec::new(),
            lines: Lines::new(text),
            found,
        }
    }

    /// The end of the string whose prefix, or quote, is at `start`.
    pub fn string_end(&mut self, start: usize) -> usize {
        self.position = start;
        self.string(start);
        self.position.min(self.text.len())
    }

    /// Adds an import at `position`.
    pub(super) fn emit(&mut self, position: usize, text: String, name: Option<String>, kind: ImportKind) {
        if !self.found.is_full() && text.len() <= MAX_SPECIFIER_BYTES {
            let line = self.lines.at(self.text, position);
            self.found.push(Specifier { text, name, kind, line });
        }
    }
}

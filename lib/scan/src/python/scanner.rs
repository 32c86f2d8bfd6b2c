//! The state of a scan, and how it adds imports.

use crate::findings::Findings;
use crate::import_kind::ImportKind;
use crate::lines::Lines;
use crate::specifier::{MAX_SPECIFIER_BYTES, Specifier};

/// A formatted string, or a replacement field in one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// The text of a formatted string.
    Text(Quotes),
    /// The expression of a field in a string of these quotes, and its number of open brackets.
    Field(Quotes, u32),
    /// The format after the colon of a field: text again, up to the brace that ends the field.
    Format(Quotes),
}

/// The quotes that end a string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotes {
    pub(super) quote: u8,
    pub(super) is_triple: bool,
}

/// A scan of one text.
pub struct Scanner<'t, 'f> {
    pub(super) text: &'t [u8],
    pub(super) position: usize,
    /// Open replacement fields and the formatted strings around them.
    pub(super) frames: Vec<Frame>,
    pub(super) lines: Lines,
    pub(super) findings: &'f mut Findings,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends imports to `findings`.
    pub fn new(text: &'t [u8], findings: &'f mut Findings) -> Self {
        let position = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Scanner {
            text,
            position,
            frames: Vec::new(),
            lines: Lines::new(text),
            findings,
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
        if !self.findings.is_full() && text.len() <= MAX_SPECIFIER_BYTES {
            let line = self.lines.at(self.text, position);
            self.findings.push(Specifier { text, name, kind, line });
        }
    }
}

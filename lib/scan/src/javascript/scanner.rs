//! The state of a scan, and how it adds imports.

use std::ops::Range;

use crate::findings::Findings;
use crate::import_kind::ImportKind;
use crate::javascript::literal;
use crate::javascript::literal::Literal;
use crate::javascript::state::{Frame, OpenBraces, PreviousToken, Root};
use crate::javascript::stop_bytes::Stops;
use crate::lines::Lines;
use crate::specifier::{MAX_SPECIFIER_BYTES, Specifier};

/// The dialect of a text, as far as it matters to a scanner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Elements may occur where an expression may.
    pub jsx: bool,
    /// Types are written in the code (TypeScript), not in comments (JSDoc).
    pub types: bool,
}

impl Dialect {
    /// Types in comments, elements anywhere.
    pub const JAVASCRIPT: Dialect = Dialect {
        jsx: true,
        types: false,
    };
    /// Types in the code, and no elements.
    pub const TYPESCRIPT: Dialect = Dialect {
        jsx: false,
        types: true,
    };
    /// Types in the code, and elements.
    pub const TYPESCRIPT_JSX: Dialect = Dialect { jsx: true, types: true };
}

/// A scan of one text.
pub(crate) struct Scanner<'t, 'f> {
    /// The whole text, and its scanned part.
    whole: &'t [u8],
    pub(super) text: &'t [u8],
    pub(super) position: usize,
    /// No import begins after this position.
    pub(super) last_word: usize,
    pub(super) previous: PreviousToken,
    pub(super) stops: Stops,
    pub(super) frames: Vec<Frame>,
    pub(super) roots: Vec<Root>,
    /// Number of bytes that may still be read a second time.
    pub(super) rereads: usize,
    pub(super) dialect: Dialect,
    /// The parenthesis of a call after which other mocks may follow (`jest.mock("a").mock("b")`).
    pub(super) mock_call: Option<usize>,
    /// The name of the variable that holds the result of `createRequire`.
    pub(super) require_variable: Option<Range<usize>>,
    /// Whether elements follow the rules of HTML: markup of Astro.
    pub(super) is_html: bool,
    /// The outermost open braces of markup.
    pub(super) hole: Option<OpenBraces>,
    /// Whether braces of markup hold code: not after a brace that nothing closes.
    pub(super) has_holes: bool,
    /// The ends of the names of the script tags in markup.
    pub(super) scripts: Vec<usize>,
    pub(super) lines: Lines,
    pub(super) findings: &'f mut Findings,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends imports to `findings`.
    pub(crate) fn new(text: &'t [u8], findings: &'f mut Findings) -> Self {
        Scanner {
            whole: text,
            text,
            position: 0,
            last_word: 0,
            previous: PreviousToken::Statement,
            stops: Stops::NONE,
            frames: Vec::new(),
            roots: Vec::new(),
            rereads: 0,
            dialect: Dialect {
                jsx: false,
                types: false,
            },
            mock_call: None,
            require_variable: None,
            is_html: false,
            hole: None,
            has_holes: true,
            scripts: Vec::new(),
            lines: Lines::new(text),
            findings,
        }
    }

    /// Consumes a token of one byte.
    pub(super) fn token(&mut self, token: PreviousToken) {
        self.position += 1;
        self.previous = token;
    }

    /// Consumes a token of one byte that opens a frame.
    pub(super) fn open(&mut self, frame: Frame) {
        self.position += 1;
        self.frames.push(frame);
    }

    /// The byte `distance` bytes after the current one.
    pub(super) fn byte_at(&self, distance: usize) -> Option<u8> {
        self.text.get(self.position + distance).copied()
    }

    /// Spends `bytes` of the budget for second readings. Returns false if too little of it is left.
    pub(super) fn spend_rereads(&mut self, bytes: usize) -> bool {
        match self.rereads.checked_sub(bytes) {
            Some(rest) => {
                self.rereads = rest;
                true
            }
            None => false,
        }
    }

    /// Adds an import of the value of `literal`.
    pub(super) fn emit(&mut self, literal: &Literal, kind: ImportKind) {
        self.emit_named(literal, None, kind);
    }

    /// [`Self::emit`] with a [`Specifier::name`].
    pub(super) fn emit_named(&mut self, literal: &Literal, name: Option<&str>, kind: ImportKind) {
        if !self.findings.is_full()
            && let Some(text) = self.text.get(literal.content.clone()).and_then(literal::decode)
        {
            self.push(literal.content.start, text, name, kind);
        }
    }

    /// Adds an import of the attribute value in `range`.
    pub(crate) fn emit_attribute(&mut self, range: Range<usize>, kind: ImportKind) {
        let start = range.start;
        let value = self.text.get(range).unwrap_or_default();
        if !value.is_empty()
            && !self.findings.is_full()
            && value.len() <= MAX_SPECIFIER_BYTES
            && let Ok(value) = std::str::from_utf8(value)
        {
            self.push(start, value.to_owned(), None, kind);
        }
    }

    /// Adds an import of `text` at `position`.
    pub(super) fn push(&mut self, position: usize, text: String, name: Option<&str>, kind: ImportKind) {
        let line = self.lines.at(self.whole, position);
        self.findings.push(Specifier {
            text,
            name: name.map(str::to_owned),
            kind,
            line,
        });
    }
}

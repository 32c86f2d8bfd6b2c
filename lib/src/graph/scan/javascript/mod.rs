//! Imports of JavaScript and TypeScript, read without building a syntax tree.
//!
//! One pass over the tokens keeps just enough state to know code from everything else: what the last token was (is a
//! slash a division or a regular expression, is `<` a comparison or an element), and which braces are open (does `}`
//! end a block, or go back into a template or among the children of an element). Only the words `import`, `export`,
//! `require`, `new`, `jest`, `vi` and `vitest` are looked at more closely, and nothing behind the last word that can
//! belong to an import is read.
//!
//! It is lexical, so it takes names at their word: a local function called `require` counts as the real one.

mod bytes;
mod call;
mod clause;
mod jsdoc;
mod jsx;
mod keyword;
mod last_word;
mod literal;
mod reference;
mod regex;
mod state;
mod trivia;

#[cfg(test)]
mod tests;

use bytes::{CLASS, Class, is_word, wide_space};
use jsx::Part;
use keyword::Keyword;
use literal::Literal;
use state::{Frame, Previous, Root};

use super::lines::Lines;
use super::meter;
use super::{ImportKind, Specifier};

/// What the text is written in, as far as a scanner has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Elements may stand where an expression may.
    pub(super) jsx: bool,
    /// Types are written in the code (TypeScript), not in comments (JSDoc).
    pub(super) types: bool,
}

/// How often, on average, a byte may be read again after a wrong guess. It bounds the time on hostile input; real
/// files use a small part of it.
const REREADS_PER_BYTE: usize = 8;

/// A text that is being scanned.
pub(super) struct Scanner<'t, 'f> {
    text: &'t [u8],
    position: usize,
    /// Behind this position no import begins.
    last_word: usize,
    previous: Previous,
    frames: Vec<Frame>,
    roots: Vec<Root>,
    /// Bytes that may still be read a second time.
    rereads: usize,
    dialect: Dialect,
    lines: Lines,
    found: &'f mut Vec<Specifier>,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends what it finds to `found`.
    pub(super) fn new(text: &'t [u8], found: &'f mut Vec<Specifier>) -> Self {
        Scanner {
            text,
            position: 0,
            last_word: 0,
            previous: Previous::Statement,
            frames: Vec::new(),
            roots: Vec::new(),
            rereads: 0,
            dialect: Dialect {
                jsx: false,
                types: false,
            },
            lines: Lines::new(text),
            found,
        }
    }

    /// Scans the whole text.
    pub(super) fn scan_file(&mut self, dialect: Dialect) {
        if self.text.starts_with(b"\xef\xbb\xbf") {
            self.position = 3;
        }
        if self.text[self.position..].starts_with(b"#!") {
            self.position = trivia::line_end(self.text, self.position);
        }
        reference::path_directives(self);
        self.scan_range(dialect, self.position, self.text.len());
    }

    /// Scans the bytes from `start` to `end` as a script of their own; lines are those of the whole text.
    pub(super) fn scan_range(&mut self, dialect: Dialect, start: usize, end: usize) {
        self.dialect = dialect;
        let whole = self.text;
        self.text = whole.get(..end).unwrap_or(whole);
        self.position = start;
        self.previous = Previous::Statement;
        self.rereads = end.saturating_sub(start).saturating_mul(REREADS_PER_BYTE);
        if let Some(last) = last_word::WORDS.last_in(self.text.get(start..).unwrap_or_default()) {
            self.last_word = start + last;
            loop {
                self.code();
                if !self.take_back_element() {
                    break;
                }
            }
        }
        self.frames.clear();
        self.roots.clear();
        self.text = whole;
    }

    /// Reads code until the text ends, or nothing is left to find. Inside what was taken for an element it is read on: should
    /// it turn out to be none, what stands before is read again.
    fn code(&mut self) {
        while let Some(byte) = self.plain_tokens() {
            match CLASS[usize::from(byte)] {
                Class::Word => self.word(byte),
                Class::Template => {
                    self.position += 1;
                    self.template();
                }
                Class::Slash => self.slash(),
                Class::OpenBrace => {
                    let is_object = self.previous.expects_object();
                    self.open(if is_object { Frame::Object } else { Frame::Block });
                    self.previous = if is_object {
                        Previous::Operator
                    } else {
                        Previous::Statement
                    };
                }
                Class::CloseBrace => self.close_brace(),
                Class::Less => self.less(),
                Class::Exclamation if self.is_non_null_assertion() => self.position += 1,
                _ => self.token(Previous::Operator),
            }
        }
    }

    /// Takes the tokens that need no more than a look at the one before, which are most. The byte that it stops at, or `None`
    /// where [`Self::code`] has to end.
    #[inline(always)]
    fn plain_tokens(&mut self) -> Option<u8> {
        let text = self.text;
        // In registers: this loop is where most of the time of a scan goes.
        let (mut at, mut previous) = (self.position, self.previous);
        let stop = loop {
            let Some(&byte) = text.get(at) else { break None };
            if at > self.last_word && self.roots.is_empty() {
                break None;
            }
            meter::read(1);
            match CLASS[usize::from(byte)] {
                Class::Space => {
                    at += 1;
                    while text.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
                        at += 1;
                    }
                }
                Class::Word => match plain_name_end(text, at, byte, previous) {
                    Some(end) => (at, previous) = (end, Previous::Operand),
                    None => break Some(byte),
                },
                Class::Quote => (at, previous) = (literal::string_end(text, at).0, Previous::Operand),
                Class::OpenParenthesis => {
                    self.frames.push(if previous == Previous::Head {
                        Frame::HeadParenthesis
                    } else {
                        Frame::Parenthesis
                    });
                    (at, previous) = (at + 1, Previous::Operator);
                }
                Class::CloseParenthesis => {
                    let is_parenthesis =
                        |frame: &mut Frame| matches!(frame, Frame::Parenthesis | Frame::HeadParenthesis);
                    let is_head = self.frames.pop_if(is_parenthesis) == Some(Frame::HeadParenthesis);
                    (at, previous) = (at + 1, if is_head { Previous::HeadEnd } else { Previous::Operand });
                }
                Class::CloseBracket => (at, previous) = (at + 1, Previous::Operand),
                Class::Semicolon => (at, previous) = (at + 1, Previous::Statement),
                Class::Equals if text.get(at + 1) == Some(&b'>') => (at, previous) = (at + 2, Previous::Arrow),
                Class::Dot if !text[at..].starts_with(b"...") => (at, previous) = (at + 1, Previous::Dot),
                Class::Dot => (at, previous) = (at + 3, Previous::Operator),
                Class::Sign if text.get(at + 1) == Some(&byte) => at += 2,
                Class::Equals | Class::Sign | Class::Operator => (at, previous) = (at + 1, Previous::Operator),
                Class::Template
                | Class::Slash
                | Class::OpenBrace
                | Class::CloseBrace
                | Class::Less
                | Class::Exclamation => break Some(byte),
            }
        };
        (self.position, self.previous) = (at, previous);
        stop
    }

    /// Takes a token of one byte.
    fn token(&mut self, token: Previous) {
        self.position += 1;
        self.previous = token;
    }

    /// Takes a token of one byte that opens something.
    fn open(&mut self, frame: Frame) {
        self.position += 1;
        self.frames.push(frame);
    }

    /// The byte `distance` behind the current one.
    fn byte_at(&self, distance: usize) -> Option<u8> {
        self.text.get(self.position + distance).copied()
    }

    /// Allows `bytes` to be read once more, or says that the text has had its share.
    fn may_reread(&mut self, bytes: usize) -> bool {
        match self.rereads.checked_sub(bytes) {
            Some(left) => {
                self.rereads = left;
                true
            }
            None => false,
        }
    }

    fn word(&mut self, first: u8) {
        let start = self.position;
        if first >= 0x80 {
            let width = wide_space(self.text, start);
            if width > 0 {
                self.position += width;
                return;
            }
        }
        let end = bytes::word_end(self.text, start + 1);
        self.position = end;
        let before = std::mem::replace(&mut self.previous, Previous::Operand);
        if before == Previous::Dot || !first.is_ascii_lowercase() {
            return;
        }
        match keyword::of(self.text, start, end) {
            Keyword::None => {}
            Keyword::Expression => self.previous = Previous::Keyword,
            Keyword::Typeof => self.previous = Previous::Typeof,
            Keyword::Branch => self.previous = Previous::Branch,
            Keyword::Head => self.previous = Previous::Head,
            Keyword::Await => {
                self.previous = if before == Previous::Head {
                    Previous::Head
                } else {
                    Previous::Keyword
                };
            }
            Keyword::Import => self.import(before),
            Keyword::Export => {
                self.previous = Previous::Statement;
                if let Some(clause) = clause::export(self.text, end) {
                    let kind = if clause.types_only {
                        ImportKind::Type
                    } else {
                        ImportKind::ExportFrom
                    };
                    self.emit(&clause.source, kind);
                    self.position = clause.source.end;
                }
            }
            Keyword::New => {
                self.previous = Previous::Keyword;
                self.new_url();
            }
            Keyword::Require => self.require(),
            Keyword::TestRunner => self.mock(),
        }
    }

    fn import(&mut self, before: Previous) {
        if matches!(trivia::next(self.text, self.position).1, Some(b'(' | b'.')) {
            self.import_call(before);
        } else if let Some(clause) = clause::import(self.text, self.position) {
            let kind = if clause.types_only {
                ImportKind::Type
            } else {
                ImportKind::Import
            };
            self.emit(&clause.source, kind);
            self.position = clause.source.end;
            self.previous = Previous::Statement;
        }
    }

    /// Notes an import of what `literal` says.
    fn emit(&mut self, literal: &Literal, kind: ImportKind) {
        if let Some(text) = self.text.get(literal.content.clone()).and_then(literal::decode) {
            self.emit_text(literal.content.start, text, kind);
        }
    }

    /// Notes what stands from `start` to `end`, the value of an attribute.
    pub(super) fn emit_attribute(&mut self, start: usize, end: usize, kind: ImportKind) {
        let value = self.text.get(start..end).unwrap_or_default();
        if !value.is_empty()
            && value.len() <= super::MAX_SPECIFIER_BYTES
            && let Ok(value) = std::str::from_utf8(value)
        {
            self.emit_text(start, value.to_owned(), kind);
        }
    }

    /// Notes an import of `text`, which stands at `position`.
    fn emit_text(&mut self, position: usize, text: String, kind: ImportKind) {
        let line = self.lines.at(self.text, position);
        self.found.push(Specifier {
            text,
            name: None,
            kind,
            line,
        });
    }

    /// Reads template text up to its end or its next hole.
    fn template(&mut self) {
        loop {
            let rest = self.text.get(self.position..).unwrap_or_default();
            let Some(at) = memchr::memchr3(b'`', b'\\', b'$', rest) else {
                self.position = self.text.len();
                return;
            };
            meter::read(at + 1);
            self.position += at + 1;
            match rest[at] {
                b'`' => {
                    self.previous = Previous::Operand;
                    return;
                }
                b'\\' => self.position += 1,
                _ if self.byte_at(0) == Some(b'{') => {
                    self.open(Frame::TemplateHole);
                    self.previous = Previous::Operator;
                    return;
                }
                _ => {}
            }
        }
    }

    fn close_brace(&mut self) {
        self.position += 1;
        self.previous = Previous::BlockEnd;
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Block => return,
                Frame::Object => {
                    self.previous = Previous::Operand;
                    return;
                }
                Frame::TemplateHole => return self.template(),
                Frame::AttributeHole => return self.element(Part::Tag),
                Frame::ChildHole => return self.element(Part::Children),
                // A parenthesis that was never closed ends with the braces around it.
                Frame::Parenthesis | Frame::HeadParenthesis => {}
                // Never on top while code is read; kept open.
                Frame::RootElement | Frame::ChildElement | Frame::ValueElement => {
                    self.frames.push(frame);
                    return;
                }
            }
        }
    }

    fn slash(&mut self) {
        match self.byte_at(1) {
            Some(b'/') => self.position = trivia::line_end(self.text, self.position),
            Some(b'*') => {
                let end = trivia::block_end(self.text, self.position);
                if !self.dialect.types {
                    self.doc_comment(self.position, end);
                }
                self.position = end;
            }
            _ if self.previous.expects_expression() => self.regex(),
            _ => self.token(Previous::Operator),
        }
    }

    /// `a!`: TypeScript wants it on the line of its operand, and everybody writes it without a space.
    fn is_non_null_assertion(&self) -> bool {
        let follows_operand = self.previous == Previous::Operand
            && self
                .position
                .checked_sub(1)
                .is_some_and(|at| !self.text[at].is_ascii_whitespace());
        follows_operand && self.byte_at(1) != Some(b'=')
    }
}

/// Where the name or number at `start` ends; `None` where it means something, or has more in it than ASCII.
#[inline(always)]
fn plain_name_end(text: &[u8], start: usize, first: u8, previous: Previous) -> Option<usize> {
    let (mut end, mut bits) = (start + 1, first);
    while let Some(&byte) = text.get(end)
        && is_word(byte)
    {
        bits |= byte;
        end += 1;
    }
    meter::read(end - start);
    let means_nothing = || previous == Previous::Dot || keyword::of(text, start, end) == Keyword::None;
    (bits.is_ascii() && means_nothing()).then_some(end)
}

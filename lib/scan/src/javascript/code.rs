//! Code, from stop to stop: tokens that decide whether code follows, and words that may begin an import.

use super::{bytes, call, clause, keyword, last_word, literal, reference, trivia};
use crate::import_kind::ImportKind;
use crate::javascript::bytes::{CLASS, Class, is_word, wide_space};
use crate::javascript::keyword::Keyword;
use crate::javascript::preceding_token::Stretch;
use crate::javascript::scanner::{Dialect, Scanner};
use crate::javascript::state::{Frame, Part, PreviousToken};
use crate::javascript::stop_bytes::Stops;
use crate::meter;

/// How often, on average, a byte may be read again after a wrong guess. It bounds the time for hostile input; real
/// files need only a fraction of it.
const REREADS_PER_BYTE: usize = 8;

impl Scanner<'_, '_> {
    /// Scans the whole text.
    pub(super) fn scan_file(&mut self, dialect: Dialect) {
        if self.text.starts_with(b"\xef\xbb\xbf") {
            self.position = 3;
        }
        if self.text[self.position..].starts_with(b"#!") {
            self.position = trivia::line_end(self.text, self.position);
        }
        reference::add_directives(self);
        self.scan_range(dialect, self.position, self.text.len());
    }

    /// Scans the bytes from `start` to `end` as a separate script, with the line numbers of the whole text.
    pub(crate) fn scan_range(&mut self, dialect: Dialect, start: usize, end: usize) {
        let whole = self.text;
        self.begin(dialect, start, end);
        if let Some(last) = last_word::WORDS.last_in(self.text.get(start..).unwrap_or_default()) {
            self.last_word = start + last + last_word::argument_offset(&self.text[start + last..]);
            loop {
                self.code();
                if !self.backtrack_to_element() {
                    break;
                }
            }
        }
        self.frames.clear();
        self.roots.clear();
        self.text = whole;
    }

    /// Goes to `start` of a text that ends at `end`.
    pub(super) fn begin(&mut self, dialect: Dialect, start: usize, end: usize) {
        self.dialect = dialect;
        self.text = self.text.get(..end).unwrap_or(self.text);
        self.position = start;
        self.previous = PreviousToken::Statement;
        self.stops = Stops::NONE;
        self.rereads = end.saturating_sub(start).saturating_mul(REREADS_PER_BYTE);
        self.mock_call = None;
        self.require_variable = None;
    }

    /// Reads code until the text ends, or no import can follow. A presumed element counts as code too; if it turns out
    /// not to be an element, the scanner reads the text again from its start.
    pub(super) fn code(&mut self) {
        while let Some(byte) = self.plain_tokens() {
            match CLASS[usize::from(byte)] {
                Class::Word => self.word(byte),
                Class::Template => {
                    self.position += 1;
                    self.template();
                }
                Class::Slash => self.slash(),
                Class::OpenBrace => {
                    let is_object = self.previous.expects_object() && !self.follows_label();
                    self.open(if is_object { Frame::Object } else { Frame::Block });
                    self.previous = if is_object {
                        PreviousToken::Operator
                    } else {
                        PreviousToken::Statement
                    };
                }
                Class::CloseBrace => self.close_brace(),
                Class::Less => self.less(),
                // No other byte is a stop.
                _ => self.token(PreviousToken::Operator),
            }
        }
    }

    /// Consumes strings and parentheses up to the next stop that needs more than the token before it. Returns its byte,
    /// or `None` where [`Self::code`] must end. The token before `}` and before a backtick is not determined: nothing
    /// depends on it.
    #[inline(always)]
    fn plain_tokens(&mut self) -> Option<u8> {
        let text = self.text;
        // In registers: most of a scan's time is spent in this loop.
        let mut stops = self.stops;
        let mut stretch = Stretch {
            text,
            start: self.position,
            before: self.previous,
        };
        let mut at = self.position;
        let byte = loop {
            let Some(stop) = stops.next(text, at) else {
                stretch.start = text.len();
                break None;
            };
            if stop > self.last_word && self.roots.is_empty() {
                stretch.start = stop;
                break None;
            }
            let byte = text[stop];
            let before = match CLASS[usize::from(byte)] {
                Class::Quote => {
                    if self.dialect.types && call::may_declare_module(text, stop) {
                        self.module_declaration(stop);
                    }
                    at = literal::string_end(text, stop).0;
                    PreviousToken::Operand
                }
                Class::OpenParenthesis => {
                    if self.may_be_named_call(stop) {
                        self.named_call(stop);
                    }
                    self.frames.push(if stretch.follows_head(stop) {
                        Frame::HeadParenthesis
                    } else if self.mock_call == Some(stop) {
                        Frame::MockParenthesis
                    } else {
                        Frame::Parenthesis
                    });
                    at = stop + 1;
                    PreviousToken::Operator
                }
                Class::CloseParenthesis => {
                    let is_parenthesis = |frame: &mut Frame| {
                        matches!(
                            frame,
                            Frame::Parenthesis | Frame::HeadParenthesis | Frame::MockParenthesis
                        )
                    };
                    at = stop + 1;
                    match self.frames.pop_if(is_parenthesis) {
                        Some(Frame::HeadParenthesis) => PreviousToken::HeadEnd,
                        Some(Frame::MockParenthesis) => {
                            self.mock(at);
                            PreviousToken::Operand
                        }
                        _ => PreviousToken::Operand,
                    }
                }
                Class::Word => {
                    let is_inside_name = stop > at && is_word(text[stop - 1]);
                    let start = if is_inside_name { stretch.name_start(stop) } else { stop };
                    if let Some(end) = ordinary_name_end(text, start) {
                        at = end;
                        continue;
                    }
                    stretch.before = stretch.previous(start);
                    stretch.start = start;
                    break Some(text[start]);
                }
                Class::CloseBrace | Class::Template => {
                    stretch.start = stop;
                    break Some(byte);
                }
                _ => {
                    stretch.before = stretch.previous(stop);
                    stretch.start = stop;
                    break Some(byte);
                }
            };
            stretch.start = at;
            stretch.before = before;
        };
        self.stops = stops;
        (self.position, self.previous) = (stretch.start, stretch.before);
        byte
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
        let before = std::mem::replace(&mut self.previous, PreviousToken::Operand);
        if !first.is_ascii_lowercase() {
            return;
        }
        if before == PreviousToken::Dot {
            if &self.text[start..end] == b"require" && call::is_property_of(self.text, start, b"module") {
                self.require();
            }
            return;
        }
        match keyword::of(self.text, start, end) {
            Keyword::None => {}
            Keyword::Expression => self.previous = PreviousToken::Keyword,
            Keyword::Typeof => self.previous = PreviousToken::Typeof,
            Keyword::Branch => self.previous = PreviousToken::Branch,
            Keyword::Head => self.previous = PreviousToken::Head,
            Keyword::Await => {
                self.previous = if before == PreviousToken::Head {
                    PreviousToken::Head
                } else {
                    PreviousToken::Keyword
                };
            }
            Keyword::Import => self.import(before),
            Keyword::Export => {
                self.previous = PreviousToken::Statement;
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
                self.previous = PreviousToken::Keyword;
                self.new_url();
            }
            Keyword::Require => self.require(),
            Keyword::TestRunner => self.mock(end),
        }
    }

    fn import(&mut self, before: PreviousToken) {
        if matches!(trivia::next(self.text, self.position).1, Some(b'(' | b'.')) {
            self.import_call(before);
        } else if let Some(clause) = clause::import(self.text, self.position) {
            let kind = if clause.types_only {
                ImportKind::Type
            } else if clause.is_require {
                ImportKind::Require
            } else {
                ImportKind::Import
            };
            self.emit(&clause.source, kind);
            self.position = clause.source.end;
            self.previous = PreviousToken::Statement;
        }
    }

    /// Reads template text up to its end or its next hole.
    fn template(&mut self) {
        match literal::template_end(self.text, self.position) {
            Some((end, false)) => {
                self.position = end;
                self.previous = PreviousToken::Operand;
            }
            Some((end, true)) => {
                self.position = end - 1;
                self.open(Frame::TemplateHole);
                self.previous = PreviousToken::Operator;
            }
            None => self.position = self.text.len(),
        }
    }

    fn close_brace(&mut self) {
        self.position += 1;
        self.previous = PreviousToken::BlockEnd;
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Block => return,
                Frame::Object => {
                    self.previous = PreviousToken::Operand;
                    return;
                }
                Frame::TemplateHole => return self.template(),
                Frame::AttributeHole => return self.leave_hole(Part::Tag),
                Frame::ValueTemplateHole => return self.leave_hole(Part::Template),
                Frame::ChildHole => return self.leave_hole(Part::Children),
                Frame::MarkupHole => return self.end_hole(),
                // An unclosed parenthesis ends with the braces around it.
                Frame::Parenthesis | Frame::HeadParenthesis | Frame::MockParenthesis => {}
                // Never on top while code is read; left open.
                Frame::RootElement
                | Frame::ChildElement
                | Frame::ValueElement
                | Frame::VoidElement
                | Frame::Document => {
                    self.frames.push(frame);
                    return;
                }
            }
        }
    }

    /// Whether the brace at the position follows a label (`a: {`) or a case, so that it opens a block although an
    /// operator precedes it. In a block, a colon ends a label or case if it follows `case`, `default`, or a name that
    /// begins a line.
    fn follows_label(&self) -> bool {
        const LOOK_BACK: usize = 128;
        if !matches!(self.frames.last(), None | Some(Frame::Block)) {
            return false;
        }
        let text = &self.text[self.position.saturating_sub(LOOK_BACK)..self.position];
        let Some(before) = text.trim_ascii_end().strip_suffix(b":") else {
            return false;
        };
        let start = before
            .iter()
            .rposition(|byte| matches!(byte, b';' | b'{' | b'}' | b'\n' | b'\r'));
        let Some(start) = start.map(|at| at + 1).or((text.len() < LOOK_BACK).then_some(0)) else {
            return false;
        };
        meter::read(text.len() - start);
        let before = before[start..].trim_ascii();
        let is_case = before
            .strip_prefix(b"case")
            .is_some_and(|rest| !rest.first().is_some_and(|byte| is_word(*byte)));
        is_case || (!before.is_empty() && before.iter().all(|byte| is_word(*byte)))
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
            _ => self.token(PreviousToken::Operator),
        }
    }
}

/// The end of the name at `start`; `None` if the name matters by itself, or contains non-ASCII bytes, which may end it.
#[inline(always)]
fn ordinary_name_end(text: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    while let Some(&byte) = text.get(end)
        && is_word(byte)
    {
        if !byte.is_ascii() {
            meter::read(end - start + 1);
            return None;
        }
        end += 1;
    }
    meter::read(end - start);
    (!keyword::of(text, start, end).matters_by_itself()).then_some(end)
}

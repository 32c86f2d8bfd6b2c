//! The tokens of JavaScript and TypeScript.

use std::ops::Range;

use coord_scan::javascript::bytes::{CLASS, Class, wide_space, word_end};
use coord_scan::javascript::literal::template_end;
use coord_scan::javascript::{literal, regex, trivia};
use coord_scan::{Dialect, meter};

use crate::InterfaceUnknown;
use crate::tokens::{Kind, Tokens, number_end};

/// Number of bytes of a short text that may be read twice.
const MIN_REREADS: usize = 20_000;

/// The state to which an open bracket returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A parenthesis after `if`, `while`, `for` or `with`.
    Head,
    /// Any other parenthesis, and a square bracket.
    Plain,
    Block,
    Object,
    TemplateHole,
    Element(ElementPart),
}

/// A place in an element, with the number of elements around it from the outermost on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementPart {
    /// In an opening tag, whose element is counted.
    Tag(usize),
    Children(usize),
}

pub(super) struct Lexer<'t> {
    pub(super) text: &'t [u8],
    pub(super) tokens: Tokens<'t>,
    pub(super) position: usize,
    pub(super) frames: Vec<Frame>,
    pub(super) dialect: Dialect,
    /// Whether the last token ended an operand, so that an operator follows.
    pub(super) is_operand: bool,
    /// Number of bytes that may still be read twice.
    pub(super) rereads: usize,
}

/// The tokens of the bytes in `range`.
///
/// # Errors
/// When brackets, templates or elements do not match.
pub(super) fn tokens(text: &[u8], range: Range<usize>, dialect: Dialect) -> Result<Tokens<'_>, InterfaceUnknown> {
    let text = text.get(..range.end).unwrap_or(text);
    let mut lexer = Lexer {
        text,
        tokens: Tokens::new(text),
        position: range.start,
        frames: Vec::new(),
        dialect,
        is_operand: false,
        rereads: range.len().saturating_mul(8).saturating_add(MIN_REREADS),
    };
    if text[lexer.position..].starts_with(b"\xef\xbb\xbf") {
        lexer.position += 3;
    }
    if text[lexer.position..].starts_with(b"#!") {
        lexer.position = trivia::line_end(text, lexer.position);
    }
    while lexer.token()? {}
    if lexer.frames.is_empty() {
        lexer.tokens.finish()
    } else {
        Err(InterfaceUnknown::NotUnderstood)
    }
}

impl Lexer<'_> {
    pub(super) fn byte(&self, distance: usize) -> Option<u8> {
        self.text.get(self.position + distance).copied()
    }

    /// Reads one token. Returns whether there was one.
    fn token(&mut self) -> Result<bool, InterfaceUnknown> {
        self.skip();
        let Some(byte) = self.byte(0) else { return Ok(false) };
        let start = self.position;
        match byte {
            b'0'..=b'9' => self.number(),
            b'\'' | b'"' => {
                self.position = literal::string_end(self.text, start).0;
                self.tokens.push(Kind::Text, start..self.position);
                self.is_operand = true;
            }
            b'`' => {
                self.tokens.open(start..start + 1);
                self.position += 1;
                self.template()?;
            }
            b'(' | b'[' | b'{' => self.open(byte),
            b')' | b']' => {
                let frame = self.frames.pop();
                self.position += 1;
                self.tokens.close(start..start + 1)?;
                self.is_operand = frame != Some(Frame::Head);
            }
            b'}' => self.close_brace()?,
            b'/' if !self.is_operand && self.regex() => {}
            b'<' if !self.is_operand && self.dialect.jsx && self.is_element() => self.element()?,
            _ if CLASS[usize::from(byte)] == Class::Word || byte == b'@' => self.word(),
            _ => self.punct(byte),
        }
        Ok(true)
    }

    /// Goes to the next token. Unlike in the scan for imports, a decorator is a token.
    pub(super) fn skip(&mut self) {
        let start = self.position;
        while let Some(byte) = self.byte(0) {
            let end = match byte {
                b'/' => trivia::comment_end(self.text, self.position),
                0x80.. => Some(self.position + wide_space(self.text, self.position)),
                b'@' => None,
                _ => (CLASS[usize::from(byte)] == Class::Space).then_some(self.position + 1),
            };
            match end {
                Some(end) if end > self.position => self.position = end,
                _ => break,
            }
        }
        let skipped = &self.text[start..self.position];
        meter::read(skipped.len());
        self.tokens.at_line_start |= skipped.iter().any(|byte| matches!(byte, b'\n' | b'\r'));
    }

    fn number(&mut self) {
        let start = self.position;
        self.position = number_end(self.text, start);
        self.tokens.push(Kind::Number, start..self.position);
        self.is_operand = true;
    }

    fn word(&mut self) {
        let start = self.position;
        let end = word_end(self.text, start + 1);
        let word = &self.text[start..end];
        let is_property = self.tokens.len() > 0 && matches!(self.tokens.word(self.tokens.len() - 1), b"." | b"?.");
        self.is_operand = is_property || !regex::BEFORE_EXPRESSION.contains(&word);
        self.position = end;
        self.tokens.push(Kind::Word, start..end);
    }

    fn punct(&mut self, byte: u8) {
        let start = self.position;
        let rest = &self.text[start..];
        let length = match byte {
            b'.' if rest.starts_with(b"...") => 3,
            b'=' if rest.starts_with(b"=>") => 2,
            b'?' if rest.starts_with(b"?.") && !rest.get(2).is_some_and(u8::is_ascii_digit) => 2,
            b'+' | b'-' if rest.get(1) == Some(&byte) => 2,
            // Compound assignments and comparisons are single tokens: their `=` does not initialize a declaration.
            b'=' | b'!' | b'<' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'?' => {
                let doubled = 1 + usize::from(matches!(byte, b'*' | b'&' | b'|' | b'?') && rest.get(1) == Some(&byte));
                let equals = rest[doubled..].iter().take(2).take_while(|byte| **byte == b'=').count();
                if byte == b'<' && rest.get(1) != Some(&b'=') {
                    1
                } else {
                    doubled + equals
                }
            }
            _ => 1,
        };
        // An assertion follows its operand directly; an increment may follow one.
        let stays_operand = byte == b'!' && length == 1 && start > 0 && !self.text[start - 1].is_ascii_whitespace()
            || length == 2 && matches!(byte, b'+' | b'-') && rest.get(1) == Some(&byte);
        self.is_operand &= stays_operand;
        self.position += length;
        self.tokens.push(Kind::Punct, start..start + length);
    }

    fn open(&mut self, byte: u8) {
        let last = self.tokens.len().wrapping_sub(1);
        let frame = match byte {
            b'{' => {
                let is_value = match self.tokens.kind(last) {
                    Some(Kind::Punct) => !matches!(self.tokens.word(last), b"=>" | b";"),
                    Some(Kind::Open) => !self.tokens.is(last, b"{"),
                    Some(Kind::Word) => !self.is_operand && !matches!(self.tokens.word(last), b"do" | b"else"),
                    _ => false,
                };
                if is_value { Frame::Object } else { Frame::Block }
            }
            b'(' if matches!(self.tokens.word(last), b"if" | b"while" | b"for" | b"with" | b"await")
                && !(last > 0 && self.tokens.is(last - 1, b"."))
                && (!self.tokens.is(last, b"await") || last > 0 && self.tokens.is(last - 1, b"for")) =>
            {
                Frame::Head
            }
            _ => Frame::Plain,
        };
        self.frames.push(frame);
        self.tokens.open(self.position..self.position + 1);
        self.position += 1;
        self.is_operand = false;
    }

    fn close_brace(&mut self) -> Result<(), InterfaceUnknown> {
        let start = self.position;
        self.position += 1;
        self.tokens.close(start..start + 1)?;
        match self.frames.pop() {
            Some(Frame::TemplateHole) => self.template(),
            Some(Frame::Element(part)) => self.element_from(part),
            frame => {
                self.is_operand = frame == Some(Frame::Object);
                Ok(())
            }
        }
    }

    /// Reads the text of a template up to its end or its next hole.
    fn template(&mut self) -> Result<(), InterfaceUnknown> {
        let start = self.position;
        let (end, opens_hole) = template_end(self.text, start).ok_or(InterfaceUnknown::NotUnderstood)?;
        self.position = end;
        if opens_hole {
            self.tokens.push(Kind::Text, start..end - 2);
            self.tokens.open(end - 2..end);
            self.frames.push(Frame::TemplateHole);
        } else {
            self.tokens.push(Kind::Text, start..end - 1);
            self.tokens.close(end - 1..end)?;
        }
        self.is_operand = !opens_hole;
        Ok(())
    }

    /// Reads the regular expression at the current slash, if there is one.
    fn regex(&mut self) -> bool {
        let start = self.position;
        let end = match regex::regex_end(self.text, start) {
            Ok(end) => end,
            Err(bytes_read) => {
                self.rereads = self.rereads.saturating_sub(bytes_read);
                return false;
            }
        };
        self.position = word_end(self.text, end);
        self.tokens.push(Kind::Text, start..self.position);
        self.is_operand = true;
        true
    }
}

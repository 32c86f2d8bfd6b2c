//! JSX: which parts of an element are text, and which are code.
//!
//! A `<` where an expression is expected may begin an element, or type parameters (`<T>(a: T) => a` in a type). The
//! scanner takes it for an element until the text contradicts that: by a byte that no tag has, by `=>` or `}` in text,
//! or by the end of the file. Then the scanner goes back and reads the `<` as an operator.

use super::trivia;
use crate::javascript::bytes::is_word;
use crate::javascript::scanner::Scanner;
use crate::javascript::state::{Frame, Part, PreviousToken, Root};
use crate::javascript::trivia::{next, word};
use crate::meter;

impl Scanner<'_, '_> {
    /// Consumes `<` in code.
    pub(super) fn less(&mut self) {
        if self.begins_line_comment() {
            self.position = trivia::line_end(self.text, self.position);
            return;
        }
        if self.html_comment() {
            return;
        }
        let begins_element = self.dialect.jsx
            && self.previous.expects_element()
            && self.byte_at(1).is_some_and(|byte| is_word(byte) || byte == b'>')
            && !self.begins_type_parameters();
        if !begins_element {
            return self.token(PreviousToken::Operator);
        }
        self.roots.push(Root {
            position: self.position,
            frames: self.frames.len(),
            mark: self.findings.mark(),
        });
        let part = self.open_element(Frame::RootElement);
        self.element(part);
    }

    /// Whether `<!--` begins a comment up to the end of its line. JavaScript allows it in scripts that are not modules.
    fn begins_line_comment(&self) -> bool {
        !self.dialect.types && self.text[self.position..].starts_with(b"<!--")
    }

    /// Consumes the `<` of an element; returns the part of it that follows.
    fn open_element(&mut self, frame: Frame) -> Part {
        if self.is_html {
            return self.open_html(frame);
        }
        self.open(frame);
        Part::Tag
    }

    /// TypeScript's own rule for `<T` in a file with JSX: `<T,`, `<T =` and `<T extends U` begin type parameters.
    fn begins_type_parameters(&self) -> bool {
        let mut at = self.position + 1;
        if word(self.text, at) == b"const" {
            at = trivia::skip(self.text, at + 5);
        }
        let (at, byte) = next(self.text, at + word(self.text, at).len());
        match byte {
            Some(b',' | b'=') => true,
            Some(b'e') if word(self.text, at) == b"extends" => {
                !matches!(next(self.text, at + 7).1, Some(b'=' | b'>' | b'/') | None)
            }
            _ => false,
        }
    }

    /// Scans inside an element, part by part, until code follows.
    pub(super) fn element(&mut self, mut part: Part) {
        loop {
            part = match part {
                Part::Tag => self.tag(),
                Part::Children => self.children(),
                Part::Template => self.value_template(),
                Part::Code => return,
            };
        }
    }

    fn tag(&mut self) -> Part {
        let mut last = 0_u8;
        while let Some(&byte) = self.text.get(self.position) {
            meter::read(1);
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => {
                    self.position += 1;
                    continue;
                }
                b'>' => {
                    self.position += 1;
                    if self.frames.pop_if(|frame| *frame == Frame::VoidElement).is_some() {
                        return self.end_element();
                    }
                    return Part::Children;
                }
                b'/' => match self.byte_at(1) {
                    Some(b'>') => {
                        self.position += 2;
                        self.frames.pop_if(|frame| *frame == Frame::VoidElement);
                        return self.end_element();
                    }
                    // A part of an address, in HTML.
                    _ if self.is_html && !self.text[self.position - 1].is_ascii_whitespace() => self.position += 1,
                    _ => self.position = trivia::comment_end(self.text, self.position).unwrap_or(self.position + 1),
                },
                b'"' | b'\'' => {
                    // JSX strings have no escapes, and may contain line breaks.
                    let rest = &self.text[self.position + 1..];
                    let length = memchr::memchr(byte, rest).map_or(rest.len() + 1, |at| at + 2);
                    meter::read(length);
                    self.position += length;
                }
                b'{' if self.has_holes => {
                    self.open_hole(Frame::AttributeHole, Part::Tag);
                    return Part::Code;
                }
                b'`' if self.is_html && self.has_holes => {
                    self.position += 1;
                    return Part::Template;
                }
                b'<' if last == b'=' => match self.open_element(Frame::ValueElement) {
                    Part::Tag => {}
                    part => return part,
                },
                b'<' => match self.type_arguments_end(self.position) {
                    Some(end) => self.position = end,
                    None => self.position += 1,
                },
                b'(' | b')' | b'[' | b']' | b'}' | b';' | b',' | b'+' | b'*' | b'&' | b'|' | b'?' | b'!' | b'`' => {
                    if self.backtrack_to_element() {
                        return Part::Code;
                    }
                    self.position += 1;
                }
                _ => self.position += 1,
            }
            last = byte;
        }
        Part::Code
    }

    fn children(&mut self) -> Part {
        loop {
            let rest = self.text.get(self.position..).unwrap_or_default();
            let Some(at) = memchr::memchr3(b'<', b'{', b'}', rest) else {
                self.position = self.text.len();
                return Part::Code;
            };
            meter::read(at);
            let has_arrow = memchr::memchr_iter(b'>', &rest[..at]).any(|at| at > 0 && rest[at - 1] == b'=');
            if (has_arrow || rest[at] == b'}') && self.backtrack_to_element() {
                return Part::Code;
            }
            self.position += at;
            match rest[at] {
                b'{' if self.has_holes => {
                    self.open_hole(Frame::ChildHole, Part::Children);
                    return Part::Code;
                }
                b'<' if self.html_comment() => {}
                b'<' if self.is_html
                    && !self
                        .byte_at(1)
                        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'>' | b'/')) =>
                {
                    self.position += 1;
                }
                b'<' if self.byte_at(1) == Some(b'/') => {
                    let rest = &self.text[self.position..];
                    let length = memchr::memchr(b'>', rest).map_or(rest.len(), |at| at + 1);
                    meter::read(length);
                    self.position += length;
                    return self.end_element();
                }
                b'<' => return self.open_element(Frame::ChildElement),
                _ => self.position += 1,
            }
        }
    }

    /// Closes the innermost element and returns the part around it.
    pub(super) fn end_element(&mut self) -> Part {
        match self.frames.pop() {
            Some(Frame::ChildElement) => Part::Children,
            Some(Frame::Document) => {
                self.frames.push(Frame::Document);
                Part::Children
            }
            Some(Frame::ValueElement) => Part::Tag,
            _ => {
                self.roots.pop();
                self.previous = PreviousToken::Operand;
                Part::Code
            }
        }
    }

    /// Goes back to the innermost `<` in code that was taken for an element, to read it as an operator. Returns false
    /// if there is none, or the budget for second readings is too small.
    pub(super) fn backtrack_to_element(&mut self) -> bool {
        let Some(root) = self.roots.last().copied() else {
            return false;
        };
        if !self.spend_rereads(self.position.min(self.text.len()) - root.position) {
            return false;
        }
        self.roots.pop();
        self.frames.truncate(root.frames);
        self.findings.roll_back(root.mark);
        self.position = root.position + 1;
        self.previous = PreviousToken::Operator;
        true
    }
}

//! Elements of JSX. An element is one pair of brackets, `<` and `>`, around the code of its holes: its type does not
//! depend on its content.

use coord_scan::javascript::bytes::{is_word, word_end};
use coord_scan::javascript::{literal, trivia};
use coord_scan::meter;

use super::lexer::{ElementPart, Frame, Lexer};
use crate::InterfaceUnknown;

/// How far the lexer looks ahead for the arrow after `<T>(...)`, in bytes.
const LOOKAHEAD: usize = 2_000;

impl Lexer<'_> {
    /// Whether the `<` at the position begins an element, and not type parameters.
    pub(super) fn is_element(&mut self) -> bool {
        let name = self.position + 1;
        match self.text.get(name) {
            Some(b'>') => return true,
            Some(byte) if is_word(*byte) && !byte.is_ascii_digit() => {}
            _ => return false,
        }
        if !self.dialect.types {
            return true;
        }
        let end = word_end(self.text, name);
        let after = trivia::skip(self.text, end);
        match self.text.get(after) {
            // `<T,>() => ...`
            Some(b',' | b'=') => false,
            Some(b'>') => !self.has_arrow(after + 1),
            Some(_) => {
                let next = trivia::word(self.text, after);
                let is_const = &self.text[name..end] == b"const" && !next.is_empty();
                let is_bound = next == b"extends" && self.text.get(after + 7) != Some(&b'=');
                !(is_const || is_bound)
            }
            None => true,
        }
    }

    /// Whether parameters and an arrow, or a type, begin at `position`: then `<T>` before it are type parameters.
    fn has_arrow(&mut self, position: usize) -> bool {
        if self.text.get(position) != Some(&b'(') || self.rereads < LOOKAHEAD {
            return false;
        }
        let mut depth = 0_usize;
        let window = &self.text[..self.text.len().min(position + LOOKAHEAD)];
        let mut at = position;
        while let Some(&byte) = window.get(at) {
            match byte {
                b'(' | b'{' | b'[' => depth += 1,
                b')' | b'}' | b']' => depth = depth.saturating_sub(1),
                b'\'' | b'"' => {
                    at = literal::string_end(window, at).0;
                    continue;
                }
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        meter::read(at - position);
        self.rereads -= (at - position).min(self.rereads);
        let after = trivia::skip(window, at);
        matches!(window.get(after), Some(b':')) || window.get(after..).is_some_and(|rest| rest.starts_with(b"=>"))
    }

    /// Reads the element whose `<` is at the position, up to its end or its first hole.
    pub(super) fn element(&mut self) -> Result<(), InterfaceUnknown> {
        self.tokens.open(self.position..self.position + 1);
        self.position += 1;
        self.element_from(ElementPart::Tag(1))
    }

    /// Continues from `part` to the end of the outermost element, or to the next hole.
    pub(super) fn element_from(&mut self, part: ElementPart) -> Result<(), InterfaceUnknown> {
        let mut part = part;
        loop {
            let next = match part {
                ElementPart::Tag(depth) => self.tag(depth)?,
                ElementPart::Children(depth) => self.children(depth)?,
            };
            if next == part {
                self.tokens.open(self.position..self.position + 1);
                self.frames.push(Frame::Element(part));
                self.position += 1;
                self.is_operand = false;
                return Ok(());
            }
            if next == ElementPart::Children(0) {
                self.tokens.close(self.position - 1..self.position)?;
                self.is_operand = true;
                return Ok(());
            }
            part = next;
        }
    }

    /// Reads an opening tag. Returns the part that follows, or this part again if a hole begins.
    fn tag(&mut self, depth: usize) -> Result<ElementPart, InterfaceUnknown> {
        let mut is_value = false;
        loop {
            self.skip();
            let byte = self.byte(0).ok_or(InterfaceUnknown::NotUnderstood)?;
            meter::read(1);
            match byte {
                b'{' => return Ok(ElementPart::Tag(depth)),
                b'>' => {
                    self.position += 1;
                    return Ok(ElementPart::Children(depth));
                }
                b'/' if self.byte(1) == Some(b'>') => {
                    self.position += 2;
                    return Ok(ElementPart::Children(depth - 1));
                }
                // An element as the value of an attribute, without braces: formatters add the braces.
                b'<' if is_value => return Err(InterfaceUnknown::NotUnderstood),
                b'<' => self.type_arguments()?,
                b'"' | b'\'' => {
                    let rest = &self.text[self.position + 1..];
                    let end = memchr::memchr(byte, rest).ok_or(InterfaceUnknown::NotUnderstood)?;
                    self.position += end + 2;
                }
                _ => self.position += 1,
            }
            is_value = byte == b'=';
        }
    }

    /// Reads children up to the next tag. Returns the part that follows, or this part again if a hole begins.
    fn children(&mut self, depth: usize) -> Result<ElementPart, InterfaceUnknown> {
        let rest = self.text.get(self.position..).unwrap_or_default();
        let distance = memchr::memchr2(b'<', b'{', rest).ok_or(InterfaceUnknown::NotUnderstood)?;
        meter::read(distance + 1);
        self.position += distance;
        if self.text[self.position] == b'{' {
            return Ok(ElementPart::Children(depth));
        }
        self.position += 1;
        if self.byte(0) != Some(b'/') {
            return Ok(ElementPart::Tag(depth + 1));
        }
        let end = memchr::memchr(b'>', &self.text[self.position..]).ok_or(InterfaceUnknown::NotUnderstood)?;
        self.position += end + 1;
        Ok(ElementPart::Children(depth - 1))
    }

    /// Skips the type arguments of a tag.
    fn type_arguments(&mut self) -> Result<(), InterfaceUnknown> {
        let mut depth = 0_usize;
        loop {
            self.skip();
            let byte = self.byte(0).ok_or(InterfaceUnknown::NotUnderstood)?;
            match byte {
                b'<' => depth += 1,
                b'>' if self.text[self.position - 1] != b'=' => depth -= 1,
                b'\'' | b'"' => {
                    self.position = literal::string_end(self.text, self.position).0;
                    continue;
                }
                _ => {}
            }
            self.position += 1;
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

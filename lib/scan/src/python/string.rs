//! String literals, including the replacement fields of formatted strings.
//!
//! Since Python 3.12, a field may contain any expression, even formatted strings and strings in the quotes of the
//! string around it. Older code is a subset of that. The scanner keeps open strings in a list, so that nesting uses no
//! stack.

use crate::meter;
use crate::python::bytes::{CLASS, Class, word_end};
use crate::python::scanner::{Frame, Quotes, Scanner};
use crate::python::trivia;

impl Scanner<'_, '_> {
    /// Consumes the string whose prefix, or quote, is at `start`; the position is at or before the quote.
    pub(super) fn string(&mut self, start: usize) {
        let quote_at = word_end(self.text, start);
        let Some(&quote) = self.text.get(quote_at) else { return };
        let is_triple = self.text.get(quote_at + 1) == Some(&quote) && self.text.get(quote_at + 2) == Some(&quote);
        let quotes = Quotes { quote, is_triple };
        self.position = quote_at + if is_triple { 3 } else { 1 };
        if is_formatted(&self.text[start..quote_at]) {
            self.formatted_string(quotes);
        } else {
            let end = plain_end(self.text, self.position, quotes);
            meter::read(end - self.position);
            self.position = end;
        }
    }

    /// Reads a formatted string from after its opening quotes.
    fn formatted_string(&mut self, quotes: Quotes) {
        let is_in_field = !self.frames.is_empty();
        self.frames.push(Frame::Text(quotes));
        if is_in_field {
            // The call came from the loop below, which continues with the new frame.
            return;
        }
        while let Some(frame) = self.frames.last().copied() {
            meter::read(1);
            let Some(&byte) = self.text.get(self.position) else {
                self.frames.clear();
                return;
            };
            match frame {
                Frame::Text(quotes) => self.formatted_text(quotes),
                Frame::Field(quotes, depth) => self.field(byte, quotes, depth),
                Frame::Format(quotes) => self.format(byte, quotes),
            }
        }
    }

    /// Reads the text of a formatted string up to its end or its next field.
    fn formatted_text(&mut self, quotes: Quotes) {
        let Quotes { quote, is_triple } = quotes;
        while let Some(&byte) = self.text.get(self.position) {
            meter::read(1);
            self.position += 1;
            match byte {
                b'\\' => self.position += self.escape_length(),
                b'{' if self.text.get(self.position) == Some(&b'{') => self.position += 1,
                b'{' => return self.frames.push(Frame::Field(quotes, 0)),
                b'\n' | b'\r' if !is_triple => {
                    // Never closed: the string was the rest of the line.
                    self.frames.clear();
                    return;
                }
                _ if byte == quote => {
                    if !is_triple {
                        self.frames.pop();
                        return;
                    }
                    if self.text.get(self.position..self.position + 2) == Some(&[quote, quote]) {
                        self.position += 2;
                        self.frames.pop();
                        return;
                    }
                }
                _ => {}
            }
        }
    }

    /// Number of bytes after a backslash that belong to it. A brace does not: it still begins a field.
    fn escape_length(&self) -> usize {
        match self.text.get(self.position..) {
            Some([b'\r', b'\n', ..]) => 2,
            // `\N{NAME}` is a character by name.
            Some([b'N', b'{', rest @ ..]) => {
                let name = rest
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-'))
                    .count();
                if rest.get(name) == Some(&b'}') { name + 3 } else { 1 }
            }
            Some([b'{', ..]) => 0,
            _ => 1,
        }
    }

    /// Consumes one token of the expression of a field.
    fn field(&mut self, byte: u8, quotes: Quotes, depth: u32) {
        let frame = match byte {
            b'(' | b'[' | b'{' => Some(Frame::Field(quotes, depth + 1)),
            b'}' if depth == 0 => None,
            b')' | b']' | b'}' => Some(Frame::Field(quotes, depth.saturating_sub(1))),
            b':' if depth == 0 => Some(Frame::Format(quotes)),
            _ => {
                return match CLASS[usize::from(byte)] {
                    Class::Other => self.position += 1,
                    Class::Word => self.word(byte),
                    Class::Quote => self.string(self.position),
                    Class::Comment => self.position = trivia::line_end(self.text, self.position),
                };
            }
        };
        self.position += 1;
        self.frames.pop();
        self.frames.extend(frame);
    }

    /// Consumes one byte of a format.
    fn format(&mut self, byte: u8, quotes: Quotes) {
        match byte {
            b'{' => {
                self.position += 1;
                self.frames.push(Frame::Field(quotes, 0));
            }
            b'}' => {
                self.position += 1;
                self.frames.pop();
            }
            b'\\' => self.position += 2,
            // The quotes of the string also end a field that was never closed.
            _ if self.ends_string(byte, quotes) => {
                while let Some(Frame::Field(..) | Frame::Format(_)) = self.frames.last() {
                    self.frames.pop();
                }
            }
            _ => self.position += 1,
        }
    }

    /// Whether the current byte, `byte`, ends a string in `quotes`.
    fn ends_string(&self, byte: u8, quotes: Quotes) -> bool {
        if quotes.is_triple {
            self.text.get(self.position..self.position + 3) == Some(&[quotes.quote; 3])
        } else {
            byte == quotes.quote || byte == b'\n' || byte == b'\r'
        }
    }
}

/// Whether `prefix` makes a formatted string (or a template string): at most two letters, one of them `f` or `t`.
fn is_formatted(prefix: &[u8]) -> bool {
    match prefix {
        [one] => matches!(one | 0x20, b'f' | b't'),
        [one, other] => {
            let pair = [one | 0x20, other | 0x20];
            pair.contains(&b'r') && (pair.contains(&b'f') || pair.contains(&b't'))
        }
        _ => false,
    }
}

/// The first byte after the string whose content begins at `position`. A single-quoted string that is not closed on its
/// line ends with the line.
fn plain_end(text: &[u8], position: usize, quotes: Quotes) -> usize {
    let mut at = position;
    if quotes.is_triple {
        while let Some(distance) = text
            .get(at..)
            .and_then(|rest| memchr::memchr2(quotes.quote, b'\\', rest))
        {
            at += distance;
            if text[at] == b'\\' {
                at += 2;
            } else if text.get(at + 1..at + 3) == Some(&[quotes.quote; 2]) {
                return at + 3;
            } else {
                at += 1;
            }
        }
        return text.len();
    }
    while let Some(&byte) = text.get(at) {
        if byte == quotes.quote {
            return at + 1;
        }
        match byte {
            b'\\' => {
                at += if text.get(at + 1..at + 3) == Some(b"\r\n") {
                    3
                } else {
                    2
                }
            }
            b'\n' | b'\r' => return at,
            _ => at += 1,
        }
    }
    text.len()
}

//! The tokens of one text, with matching brackets.

use std::ops::Range;

use coord_scan::meter;

use super::InterfaceUnknown;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// A string, or a piece of one.
    Text,
    Punct,
    Open,
    Close,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    kind: Kind,
    /// Whether a line break precedes it.
    starts_line: bool,
    start: u32,
    end: u32,
    /// Index of the other bracket.
    partner: u32,
}

/// All tokens of a text. An index past the end stands for an empty token without a kind.
#[derive(Debug)]
pub(super) struct Tokens<'t> {
    text: &'t [u8],
    list: Vec<Token>,
    open: Vec<u32>,
    /// Whether a line break was read since the last token.
    pub(super) at_line_start: bool,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        Tokens {
            text,
            // Code has a token for every four to five bytes, text with comments has fewer.
            list: Vec::with_capacity(text.len() / 5),
            open: Vec::new(),
            at_line_start: true,
        }
    }

    pub(super) fn push(&mut self, kind: Kind, bytes: Range<usize>) {
        meter::read(bytes.len() + 1);
        self.list.push(Token {
            kind,
            starts_line: std::mem::take(&mut self.at_line_start),
            // A text has at most `MAX_INTERFACE_BYTES`.
            start: u32::try_from(bytes.start).unwrap_or(u32::MAX),
            end: u32::try_from(bytes.end).unwrap_or(u32::MAX),
            partner: 0,
        });
    }

    pub(super) fn open(&mut self, bytes: Range<usize>) {
        self.open.push(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.push(Kind::Open, bytes);
    }

    /// Adds a closing bracket.
    ///
    /// # Errors
    /// When it does not match the last open one.
    pub(super) fn close(&mut self, bytes: Range<usize>) -> Result<(), InterfaceUnknown> {
        let open = self.open.pop().ok_or(InterfaceUnknown::NotUnderstood)?;
        let index = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let expected = match self.word(open as usize).first() {
            Some(b'(') => b')',
            Some(b'[') => b']',
            Some(b'{') | Some(b'$') => b'}',
            Some(b'<') => b'>',
            _ => b'`',
        };
        if self.text.get(bytes.end.wrapping_sub(1)) != Some(&expected) {
            return Err(InterfaceUnknown::NotUnderstood);
        }
        self.push(Kind::Close, bytes);
        self.list[open as usize].partner = index;
        self.list[index as usize].partner = open;
        Ok(())
    }

    /// Number of open brackets.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Checks that no bracket is open.
    pub(super) fn finish(self) -> Result<Self, InterfaceUnknown> {
        if self.open.is_empty() {
            Ok(self)
        } else {
            Err(InterfaceUnknown::NotUnderstood)
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn kind(&self, index: usize) -> Option<Kind> {
        self.list.get(index).map(|token| token.kind)
    }

    pub(super) fn starts_line(&self, index: usize) -> bool {
        self.list.get(index).is_some_and(|token| token.starts_line)
    }

    /// The bytes of the token; empty past the end.
    pub(super) fn word(&self, index: usize) -> &'t [u8] {
        self.list
            .get(index)
            .and_then(|token| self.text.get(token.start as usize..token.end as usize))
            .unwrap_or_default()
    }

    pub(super) fn is(&self, index: usize, word: &[u8]) -> bool {
        self.word(index) == word
    }

    pub(super) fn is_name(&self, index: usize) -> bool {
        self.kind(index) == Some(Kind::Word)
    }

    /// The range of the token in the text.
    pub(super) fn bytes(&self, index: usize) -> Range<usize> {
        self.list.get(index).map_or(self.text.len()..self.text.len(), |token| {
            token.start as usize..token.end as usize
        })
    }

    /// Index of the closing bracket of an opening one, and the reverse.
    pub(super) fn partner(&self, index: usize) -> usize {
        self.list.get(index).map_or(index, |token| token.partner as usize)
    }

    /// Index of the token after this one, or after the bracket that this one opens.
    pub(super) fn after(&self, index: usize) -> usize {
        meter::read(1);
        match self.kind(index) {
            Some(Kind::Open) => self.partner(index) + 1,
            _ => index + 1,
        }
    }
}

/// Whether `byte` can be part of a name of Go or Rust.
pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The end of the name of Go or Rust at `start`.
pub(super) fn name_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    start + rest.iter().take_while(|byte| is_name_byte(**byte)).count()
}

/// The end of the number of JavaScript or Python at `start`.
pub(super) fn number_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(&byte) = text.get(at) {
        let is_exponent_sign = at > start
            && matches!(byte, b'+' | b'-')
            && matches!(text[at - 1], b'e' | b'E')
            && !text[start..].starts_with(b"0x");
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || is_exponent_sign) {
            break;
        }
        at += 1;
    }
    at
}

//! Classes of bytes, by the tokens that they can start.

/// The class of a byte in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// White space, and bytes without meaning for the scanner (`@`, control characters).
    Space,
    /// Letters, digits, `_`, `$`, `#`, `\` (an escape in a name) and everything beyond ASCII.
    Word,
    /// `'` or `"`.
    Quote,
    Template,
    Slash,
    OpenBrace,
    CloseBrace,
    OpenParenthesis,
    CloseParenthesis,
    CloseBracket,
    Less,
    Equals,
    Dot,
    Semicolon,
    /// `+` or `-`: doubled, it can follow an operand.
    Sign,
    /// `!`: in TypeScript it can follow an operand.
    Exclamation,
    /// Any other operator, `[` included: an expression comes next.
    Operator,
}

/// [`Class`] of every byte.
pub static CLASS: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Space; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | b'#' | b'\\' | 0x80..=0xff => Class::Word,
            b'\'' | b'"' => Class::Quote,
            b'`' => Class::Template,
            b'/' => Class::Slash,
            b'{' => Class::OpenBrace,
            b'}' => Class::CloseBrace,
            b'(' => Class::OpenParenthesis,
            b')' => Class::CloseParenthesis,
            b']' => Class::CloseBracket,
            b'<' => Class::Less,
            b'=' => Class::Equals,
            b'.' => Class::Dot,
            b';' => Class::Semicolon,
            b'+' | b'-' => Class::Sign,
            b'!' => Class::Exclamation,
            b'[' | b',' | b':' | b'?' | b'*' | b'%' | b'&' | b'|' | b'^' | b'~' | b'>' => Class::Operator,
            _ => Class::Space,
        };
        byte += 1;
    }
    table
}

/// Whether `byte` can be part of a name.
pub fn is_word(byte: u8) -> bool {
    CLASS[usize::from(byte)] == Class::Word
}

/// The 1 to 8 bytes at `position` as a little-endian number.
pub(super) fn little_endian(text: &[u8], position: usize, length: usize) -> u64 {
    match text.get(position..).and_then(<[u8]>::first_chunk) {
        Some(eight) => u64::from_le_bytes(*eight) & (u64::MAX >> (u64::BITS as usize - 8 * length)),
        // Close to the end of the text.
        None => {
            let mut bytes = [0; 8];
            bytes[..length].copy_from_slice(&text[position..position + length]);
            u64::from_le_bytes(bytes)
        }
    }
}

/// The end of the name or number at `position`.
#[inline]
pub fn word_end(text: &[u8], position: usize) -> usize {
    let mut end = position;
    while let Some(&byte) = text.get(end) {
        if !is_word(byte) || (byte >= 0x80 && wide_space(text, end) > 0) {
            break;
        }
        end += 1;
    }
    crate::meter::read(end - position);
    end
}

/// Length of the non-ASCII white space at `position` in bytes: no-break space, the line and paragraph separators, the
/// ideographic space, the byte order mark. 0 where there is none.
#[inline]
pub fn wide_space(text: &[u8], position: usize) -> usize {
    match text.get(position..) {
        Some([0xc2, 0xa0, ..]) => 2,
        Some([0xe2, 0x80, 0x80..=0x8a | 0xa8 | 0xa9 | 0xaf, ..] | [0xe2, 0x81, 0x9f, ..]) => 3,
        Some([0xe3, 0x80, 0x80, ..] | [0xef, 0xbb, 0xbf, ..]) => 3,
        _ => 0,
    }
}

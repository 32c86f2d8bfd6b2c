//! Classes of bytes.

use crate::meter;

/// The class of a byte in code.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// Bytes that neither begin nor end a token here.
    Other,
    /// Letters, digits, `_` and everything beyond ASCII.
    Word,
    Quote,
    Comment,
}

pub(super) static CLASS: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut table = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80..=0xff => Class::Word,
            b'\'' | b'"' => Class::Quote,
            b'#' => Class::Comment,
            _ => Class::Other,
        };
        byte += 1;
    }
    table
}

/// The end of the name or number at `position`.
#[inline]
pub fn word_end(text: &[u8], position: usize) -> usize {
    let mut end = position;
    while text
        .get(end)
        .is_some_and(|byte| CLASS[usize::from(*byte)] == Class::Word)
    {
        end += 1;
    }
    meter::read(end - position);
    end
}

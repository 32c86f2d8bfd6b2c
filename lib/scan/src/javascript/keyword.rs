//! The words that matter to the scanner.

use crate::javascript::bytes::little_endian;

/// The effect of a word in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    /// A name without effect.
    None,
    Import,
    Export,
    Require,
    New,
    /// `jest`, `vi`, `vitest`.
    TestRunner,
    Expression,
    Typeof,
    Branch,
    /// A head in parentheses follows.
    Head,
    /// Stands between `for` and its head, or before an expression.
    Await,
}

impl Keyword {
    /// Whether the scanner has to handle the word itself, and not only as the token before another.
    pub(super) fn matters_by_itself(self) -> bool {
        matches!(
            self,
            Keyword::Import | Keyword::Export | Keyword::Require | Keyword::New | Keyword::TestRunner
        )
    }
}

/// The words of at most eight bytes.
const WORDS: [(&[u8], Keyword); 27] = [
    (b"if", Keyword::Head),
    (b"in", Keyword::Expression),
    (b"of", Keyword::Expression),
    (b"do", Keyword::Branch),
    (b"vi", Keyword::TestRunner),
    (b"for", Keyword::Head),
    (b"new", Keyword::New),
    (b"try", Keyword::Branch),
    (b"with", Keyword::Head),
    (b"else", Keyword::Branch),
    (b"case", Keyword::Expression),
    (b"void", Keyword::Expression),
    (b"jest", Keyword::TestRunner),
    (b"while", Keyword::Head),
    (b"await", Keyword::Await),
    (b"throw", Keyword::Expression),
    (b"yield", Keyword::Expression),
    (b"import", Keyword::Import),
    (b"export", Keyword::Export),
    (b"return", Keyword::Expression),
    (b"delete", Keyword::Expression),
    (b"typeof", Keyword::Typeof),
    (b"vitest", Keyword::TestRunner),
    (b"require", Keyword::Require),
    (b"default", Keyword::Expression),
    (b"extends", Keyword::Expression),
    (b"finally", Keyword::Branch),
];

/// The multiplier that gives each of [`WORDS`] a different slot.
const MULTIPLIER: u64 = 0x73a2_6890_363f_89c3;
const SLOTS: usize = 64;
static TABLE: [(u64, Keyword); SLOTS] = table();

const fn table() -> [(u64, Keyword); SLOTS] {
    let mut table = [(0, Keyword::None); SLOTS];
    let mut number = 0;
    while number < WORDS.len() {
        let (word, keyword) = WORDS[number];
        let mut bytes = [0; 8];
        let mut at = 0;
        while at < word.len() {
            bytes[at] = word[at];
            at += 1;
        }
        let key = u64::from_le_bytes(bytes);
        assert!(
            table[slot(key)].0 == 0,
            "two words have one slot: take another multiplier"
        );
        table[slot(key)] = (key, keyword);
        number += 1;
    }
    table
}

const fn slot(key: u64) -> usize {
    (key.wrapping_mul(MULTIPLIER) >> (u64::BITS - SLOTS.trailing_zeros())) as usize
}

/// The meaning of the word from `start` to `end` of `text`.
#[inline]
pub(super) fn of(text: &[u8], start: usize, end: usize) -> Keyword {
    let length = end - start;
    if length > 8 {
        let is_long = length == 10 && text[start..end] == *b"instanceof";
        return if is_long { Keyword::Expression } else { Keyword::None };
    }
    let key = little_endian(text, start, length);
    let (slot_key, keyword) = TABLE[slot(key)];
    if slot_key == key { keyword } else { Keyword::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_meaning_and_no_other_has() {
        for (word, keyword) in WORDS {
            for text in [word.to_vec(), [word, b" = 12345678"].concat()] {
                assert_eq!(of(&text, 0, word.len()), keyword);
                assert_eq!(of(&text, 1, word.len()), Keyword::None);
            }
            let longer = [word, b"s"].concat();
            assert_eq!(of(&longer, 0, longer.len()), Keyword::None);
        }
        assert_eq!(of(b"instanceof", 0, 10), Keyword::Expression);
    }
}

//! The bytes of code that the scanner has to handle: found sixty-four at a time, by comparing vectors of sixteen.
//!
//! Most of a text is names, numbers, whitespace and operators. They matter only if a byte follows whose meaning depends
//! on the token before it. Then [`preceding_token`](super::preceding_token) finds that token.

use wide::u8x16;

use crate::meter;

const BLOCK: usize = u64::BITS as usize;
const LANES: usize = 16;
/// A block with one byte before it and one after.
const WINDOW: usize = BLOCK + 2;

/// A block of the text, and its stops:
///
/// - quotes of all three kinds, slashes, braces, parentheses, `<`, and bytes beyond ASCII
/// - first letters of names whose first two letters are those of a word that matters (`import`, `export`, `require`,
///   `new`, `jest`, `vi`, `vitest`)
#[derive(Clone, Copy, Debug)]
pub(super) struct Stops {
    start: usize,
    /// Bit `n` stands for the byte at `start + n`.
    stops: u64,
}

impl Stops {
    /// The stops of no block.
    pub(super) const NONE: Stops = Stops {
        start: usize::MAX - BLOCK,
        stops: 0,
    };

    /// The first stop at or after `position`, where a token begins.
    #[inline(always)]
    pub(super) fn next(&mut self, text: &[u8], position: usize) -> Option<usize> {
        let mut offset = position.wrapping_sub(self.start);
        if offset >= BLOCK {
            *self = Stops::read(text, position)?;
            offset = 0;
        }
        loop {
            let ahead = self.stops >> offset;
            if ahead != 0 {
                return Some(self.start + offset + ahead.trailing_zeros() as usize);
            }
            *self = Stops::read(text, self.start + BLOCK)?;
            offset = 0;
        }
    }

    /// Reads the block at `start`; `None` at the end of the text.
    #[inline]
    fn read(text: &[u8], start: usize) -> Option<Self> {
        let left = text.len().checked_sub(start).filter(|left| *left > 0)?;
        meter::read(BLOCK.min(left));
        let window = start
            .checked_sub(1)
            .and_then(|before| text.get(before..)?.first_chunk());
        let padded;
        let window: &[u8; WINDOW] = match window {
            Some(window) => window,
            None => {
                padded = padded_window(text, start);
                &padded
            }
        };
        let mut stops = 0;
        for first in (0..BLOCK).step_by(LANES) {
            stops |= classify(window, first) << first;
        }
        Some(Stops { start, stops })
    }
}

/// The window of the block at `start`, close to an end of the text.
#[cold]
fn padded_window(text: &[u8], start: usize) -> [u8; WINDOW] {
    let mut window = [b' '; WINDOW];
    if start > 0 {
        window[0] = text[start - 1];
    }
    let rest = &text[start..text.len().min(start + WINDOW - 1)];
    window[1..=rest.len()].copy_from_slice(rest);
    window
}

/// The stops among the sixteen bytes after the first `from + 1` of the window, a bit each.
#[inline(always)]
fn classify(window: &[u8; WINDOW], from: usize) -> u64 {
    let lanes = |from: usize| {
        let mut lanes = [0; LANES];
        lanes.copy_from_slice(&window[from..from + LANES]);
        u8x16::new(lanes)
    };
    let is = |bytes: u8x16, byte: u8| bytes.simd_eq(u8x16::splat(byte));
    // Below the start of the range, the difference wraps to a large number.
    let is_within = |bytes: u8x16, first: u8, last: u8| {
        let from_first = bytes - u8x16::splat(first);
        from_first.min(u8x16::splat(last - first)).simd_eq(from_first)
    };
    let (before, bytes, after) = (lanes(from), lanes(from + 1), lanes(from + 2));
    let quotes_and_parentheses = is(bytes, b'"') | is_within(bytes, b'\'', b')') | is(bytes, b'`');
    let others = is(bytes, b'/') | is(bytes, b'<') | is(bytes, b'{') | is(bytes, b'}');
    let (e, i) = (is(bytes, b'e'), is(bytes, b'i'));
    let first = e | i | is(bytes, b'j') | is(bytes, b'n') | is(bytes, b'r') | is(bytes, b'v');
    let second = is(after, b'e') | is(after, b'i') | is(after, b'm') | is(after, b'x');
    let is_in_word = is_within(before | u8x16::splat(0x20), b'a', b'z');
    let words = first & second & !is_in_word;
    // The highest bit comes from the byte itself, and is set beyond ASCII.
    u64::from((quotes_and_parentheses | others | words | bytes).to_bitmask())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::javascript::bytes::{CLASS, Class};

    /// The same result, byte by byte. Digits and marks before a word do not exclude it.
    fn is_stop(text: &[u8], position: usize) -> bool {
        let byte = text[position];
        let begins_name = position == 0 || !text[position - 1].is_ascii_alphabetic();
        let matters = [&b"im"[..], b"ex", b"re", b"ne", b"je", b"vi"];
        let by_itself = matches!(
            CLASS[usize::from(byte)],
            Class::Quote
                | Class::Template
                | Class::Slash
                | Class::OpenBrace
                | Class::CloseBrace
                | Class::OpenParenthesis
                | Class::CloseParenthesis
                | Class::Less
        );
        by_itself || byte >= 0x80 || (begins_name && matters.iter().any(|two| text[position..].starts_with(two)))
    }

    fn stops(text: &[u8], from: usize) -> Vec<usize> {
        let mut stops = Stops::NONE;
        let mut at = from;
        let next = || {
            let stop = stops.next(text, at)?;
            at = stop + 1;
            Some(stop)
        };
        std::iter::from_fn(next).collect()
    }

    proptest! {
        #[test]
        fn every_stop_is_met_and_little_else(
            text in proptest::collection::vec(prop_oneof![Just(b' '), Just(b'e'), Just(b'i'), Just(b'm'), any::<u8>()], 0..300),
            from in 0..300_usize,
        ) {
            let met = stops(&text, from);
            for position in from..text.len() {
                if is_stop(&text, position) {
                    prop_assert!(met.contains(&position), "{position}");
                }
            }
            for position in met {
                let byte = text[position];
                prop_assert!(is_stop(&text, position) || b"eijnrv".contains(&byte), "{position}: {byte}");
            }
        }
    }

    #[test]
    fn a_word_that_matters_is_met_across_the_ends_of_blocks() {
        for gap in 0..200 {
            let text = [" ".repeat(gap).as_str(), "import a; reimport; aimport; new"].concat();
            let met = stops(text.as_bytes(), 0);
            assert!(
                met.contains(&gap) && met.contains(&(gap + text.trim_start().len() - 3)),
                "{gap}: {met:?}"
            );
            for within_name in ["reimport", "aimport"].map(|name| gap + text.trim_start().find(name).unwrap()) {
                assert!(!met.contains(&(within_name + 1)), "{gap}: {met:?}");
            }
            let name = "a".repeat(gap + 1) + "import";
            assert!(stops(name.as_bytes(), 0).is_empty(), "{gap}");
        }
    }

    #[test]
    fn nothing_behind_the_end_is_a_stop() {
        assert!(stops(b"", 0).is_empty());
        assert!(stops(b"a", 1).is_empty());
        assert_eq!(stops(b"(", 0), [0]);
        assert!(stops(b"(", 7).is_empty());
    }
}

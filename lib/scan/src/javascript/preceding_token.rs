//! The token before a position in code, found by reading backward: nearly always by the last few bytes.

use super::keyword;
use crate::javascript::bytes::{CLASS, Class, is_word};
use crate::javascript::keyword::Keyword;
use crate::javascript::state::PreviousToken;
use crate::meter;

/// Code without stops ([`super::stop_bytes`]), except for names that only look like the words that matter: names,
/// numbers, whitespace and operators, all of them ASCII.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<'t> {
    pub(super) text: &'t [u8],
    /// The start of the stretch, where a token begins.
    pub(super) start: usize,
    pub(super) before: PreviousToken,
}

/// A token that the backward reading has passed, and whose meaning depends on the token before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PassedToken {
    /// `!` after an operand, which stays an operand.
    Assertion,
    /// `await` after `for`, which stays a head.
    Await,
}

impl Stretch<'_> {
    /// The last token before `end`.
    #[inline]
    pub(super) fn previous(self, end: usize) -> PreviousToken {
        let mut at = end;
        let mut passed = None;
        let token = loop {
            while self
                .byte_before(at)
                .is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
            {
                at -= 1;
            }
            let Some(byte) = self.byte_before(at) else {
                break self.before;
            };
            match CLASS[usize::from(byte)] {
                Class::Space => at -= 1,
                Class::Word => {
                    let (start, keyword) = self.word(at);
                    at = start;
                    match keyword {
                        Keyword::Await if passed.is_none() => passed = Some(PassedToken::Await),
                        Keyword::Await if passed == Some(PassedToken::Await) => {}
                        Keyword::Await | Keyword::Expression | Keyword::New => break PreviousToken::Keyword,
                        Keyword::Typeof => break PreviousToken::Typeof,
                        Keyword::Branch => break PreviousToken::Branch,
                        Keyword::Head => break PreviousToken::Head,
                        Keyword::Export => break PreviousToken::Statement,
                        Keyword::None | Keyword::Import | Keyword::Require | Keyword::TestRunner => {
                            break PreviousToken::Operand;
                        }
                    }
                }
                Class::CloseBracket => break PreviousToken::Operand,
                Class::Semicolon => break PreviousToken::Statement,
                Class::Dot if self.is_dot(at) => break PreviousToken::Dot,
                Class::Sign => match self.run_start(at) {
                    // Doubled, they can follow an operand and precede one.
                    start if (at - start).is_multiple_of(2) => at = start,
                    _ => break PreviousToken::Operator,
                },
                Class::Exclamation => {
                    at = self.run_start(at);
                    let is_adjacent = at > 0 && !self.text[at - 1].is_ascii_whitespace();
                    if !is_adjacent || passed == Some(PassedToken::Await) {
                        break PreviousToken::Operator;
                    }
                    passed = Some(PassedToken::Assertion);
                }
                Class::Operator if byte == b'>' && self.byte_before(at - 1) == Some(b'=') => {
                    break PreviousToken::Arrow;
                }
                _ => break PreviousToken::Operator,
            }
        };
        meter::read(end - at + 1);
        match (passed, token) {
            (None, token) => token,
            (Some(PassedToken::Assertion), PreviousToken::Operand) => PreviousToken::Operand,
            (Some(PassedToken::Assertion), _) => PreviousToken::Operator,
            (Some(PassedToken::Await), PreviousToken::Head) => PreviousToken::Head,
            (Some(PassedToken::Await), _) => PreviousToken::Keyword,
        }
    }

    /// Whether `if`, `while`, `for` or `with` is the last token before `end`, where a parenthesis opens.
    #[inline]
    pub(super) fn follows_head(self, end: usize) -> bool {
        // The last letters of these words, and of `await`. Most parentheses directly follow another name.
        let may_be = |byte| match CLASS[usize::from(byte)] {
            Class::Word => matches!(byte, b'f' | b'e' | b'r' | b'h' | b't'),
            Class::Space | Class::Sign => true,
            _ => false,
        };
        self.byte_before(end).is_none_or(may_be) && self.previous(end) == PreviousToken::Head
    }

    /// The start of the name or number that ends at `end`, and its meaning there.
    #[inline]
    fn word(self, end: usize) -> (usize, Keyword) {
        let start = self.name_start(end - 1);
        let keyword = match self.text[start] {
            b'a'..=b'z' => keyword::of(self.text, start, end),
            _ => Keyword::None,
        };
        if keyword != Keyword::None && self.is_property(start) {
            return (start, Keyword::None);
        }
        (start, keyword)
    }

    /// The start of the name or number that contains the byte at `position`.
    pub(super) fn name_start(self, position: usize) -> usize {
        let mut start = position;
        while self.byte_before(start).is_some_and(is_word) {
            start -= 1;
        }
        meter::read(position - start + 1);
        start
    }

    /// Whether the name at `start` follows a dot.
    fn is_property(self, start: usize) -> bool {
        let mut at = start;
        let is_property = loop {
            let Some(byte) = self.byte_before(at) else {
                break self.before == PreviousToken::Dot;
            };
            match CLASS[usize::from(byte)] {
                Class::Space => at -= 1,
                Class::Dot => break self.is_dot(at),
                Class::Sign if (at - self.run_start(at)).is_multiple_of(2) => at = self.run_start(at),
                _ => break false,
            }
        };
        meter::read(start - at + 1);
        is_property
    }

    /// Whether the dot before `end` is a single one, and not the last of three.
    fn is_dot(self, end: usize) -> bool {
        !(end - self.run_start(end)).is_multiple_of(3)
    }

    /// The start of the run of equal bytes that ends at `end`.
    fn run_start(self, end: usize) -> usize {
        let mut start = end;
        let byte = self.byte_before(end);
        while byte.is_some() && self.byte_before(start) == byte {
            start -= 1;
        }
        meter::read(end - start);
        start
    }

    /// The byte before `end`, if it belongs to the stretch.
    #[inline]
    fn byte_before(self, end: usize) -> Option<u8> {
        if end > self.start {
            self.text.get(end - 1).copied()
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same result, token by token from the start.
    fn forward(stretch: Stretch<'_>, end: usize) -> PreviousToken {
        let text = stretch.text;
        let (mut at, mut previous) = (stretch.start, stretch.before);
        while at < end {
            let byte = text[at];
            let next = text.get(at + 1).copied();
            let length;
            (length, previous) = match CLASS[usize::from(byte)] {
                Class::Space => (1, previous),
                Class::Word => {
                    let length = text[at..].iter().take_while(|byte| is_word(**byte)).count();
                    let meaning = match keyword::of(text, at, at + length) {
                        _ if previous == PreviousToken::Dot => PreviousToken::Operand,
                        Keyword::Expression | Keyword::New => PreviousToken::Keyword,
                        Keyword::Typeof => PreviousToken::Typeof,
                        Keyword::Branch => PreviousToken::Branch,
                        Keyword::Head => PreviousToken::Head,
                        Keyword::Export => PreviousToken::Statement,
                        Keyword::Await if previous == PreviousToken::Head => PreviousToken::Head,
                        Keyword::Await => PreviousToken::Keyword,
                        Keyword::None | Keyword::Import | Keyword::Require | Keyword::TestRunner => {
                            PreviousToken::Operand
                        }
                    };
                    (length, meaning)
                }
                Class::CloseBracket => (1, PreviousToken::Operand),
                Class::Semicolon => (1, PreviousToken::Statement),
                Class::Equals if next == Some(b'>') => (2, PreviousToken::Arrow),
                Class::Dot if text[at..].starts_with(b"...") => (3, PreviousToken::Operator),
                Class::Dot => (1, PreviousToken::Dot),
                Class::Sign if next == Some(byte) => (2, previous),
                Class::Exclamation
                    if previous == PreviousToken::Operand
                        && at > 0
                        && !text[at - 1].is_ascii_whitespace()
                        && next != Some(b'=') =>
                {
                    (1, previous)
                }
                _ => (1, PreviousToken::Operator),
            };
            at += length;
        }
        previous
    }

    fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
        let pieces = vec![
            " ",
            "\t",
            "\n",
            "\u{1}",
            "a",
            "b1",
            "1",
            "0x1f",
            "$",
            "_if",
            "#a",
            "if",
            "for",
            "await",
            "while",
            "typeof",
            "return",
            "else",
            "export",
            "new",
            "import",
            "of",
            "instanceof",
            ".",
            "..",
            "...",
            "?.",
            "?",
            "=",
            "=>",
            "==",
            ">",
            ">=",
            "+",
            "++",
            "-",
            "--",
            "!",
            "!!",
            "!=",
            "[",
            "]",
            ",",
            ";",
            ":",
            "*",
            "&&",
            "|",
            "@",
            "~",
        ];
        proptest::collection::vec(proptest::sample::select(pieces), 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn looking_back_finds_the_same_token_as_reading_forward(
            pieces in pieces(),
            start in 0..3_usize,
            before in proptest::sample::select(vec![
                PreviousToken::Statement, PreviousToken::BlockEnd, PreviousToken::Operand, PreviousToken::Dot, PreviousToken::Operator, PreviousToken::Keyword,
                PreviousToken::Typeof, PreviousToken::Branch, PreviousToken::Head, PreviousToken::HeadEnd, PreviousToken::Arrow,
            ]),
        ) {
            // The text before the stretch is not part of it.
            let text = [&") "[..start.min(2)], &pieces.concat(), "("].concat();
            let stretch = Stretch { text: text.as_bytes(), start: start.min(2), before };
            let end = text.len() - 1;
            let read = forward(stretch, end);
            prop_assert_eq!(stretch.previous(end), read, "{}", text);
            prop_assert_eq!(stretch.follows_head(end), read == PreviousToken::Head, "{}", text);
        }
    }

    #[test]
    fn a_long_row_of_tokens_costs_no_stack() {
        for piece in ["await ", "!", "! ", "++", ". ", "..."] {
            let text = piece.repeat(1_000_000);
            let stretch = Stretch {
                text: text.as_bytes(),
                start: 0,
                before: PreviousToken::Statement,
            };
            meter::take();
            assert_eq!(stretch.previous(text.len()), forward(stretch, text.len()), "{piece}");
            assert!(meter::take() <= 8 * text.len(), "{piece}");
        }
    }
}

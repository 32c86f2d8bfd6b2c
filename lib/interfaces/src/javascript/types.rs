//! The ends of types.

use super::reader::Reader;
use crate::tokens::Kind;

/// How many tokens are read to distinguish type arguments from a comparison, and the type of an arrow function from a
/// branch.
const LOOKAHEAD: usize = 256;

/// Words that begin a type and do not end it.
const PREFIXES: [&[u8]; 9] = [
    b"keyof",
    b"typeof",
    b"unique",
    b"readonly",
    b"infer",
    b"asserts",
    b"new",
    b"abstract",
    b"extends",
];

impl Reader<'_, '_> {
    /// The end of the type at `start`.
    pub(super) fn type_end(&self, start: usize, end: usize) -> usize {
        self.type_end_with(start, end, true)
    }

    /// [`Self::type_end`]; `takes_arrows`: whether an arrow after a parenthesis belongs to the type.
    fn type_end_with(&self, start: usize, end: usize, takes_arrows: bool) -> usize {
        let mut at = start;
        let mut conditions = 0_usize;
        let mut is_operand = false;
        while at < end {
            let word = self.word(at);
            let kind = self.tokens.kind(at);
            if is_operand {
                match (kind, word) {
                    (Some(Kind::Punct), b"." | b"|" | b"&") => is_operand = false,
                    (Some(Kind::Punct), b"=>") if takes_arrows && self.is(at - 1, b")") => is_operand = false,
                    (Some(Kind::Open), b"[") if !self.tokens.starts_line(at) => {}
                    (Some(Kind::Open), b"(") if self.is(at - 1, b"import") => {}
                    (Some(Kind::Punct), b"<") if !self.tokens.starts_line(at) => {
                        at = self.angle_end(at, end);
                        continue;
                    }
                    (Some(Kind::Word), b"is") if !self.tokens.starts_line(at) => is_operand = false,
                    (Some(Kind::Word), b"extends") => {
                        conditions += 1;
                        is_operand = false;
                    }
                    (Some(Kind::Punct), b"?") if conditions > 0 => is_operand = false,
                    (Some(Kind::Punct), b":") if conditions > 0 => {
                        conditions -= 1;
                        is_operand = false;
                    }
                    _ => return at,
                }
            } else {
                match (kind, word) {
                    (Some(Kind::Punct), b"<") => {
                        at = self.angle_end(at, end);
                        continue;
                    }
                    (Some(Kind::Punct), b"|" | b"&" | b"-" | b"?" | b"!" | b"*" | b"...") => {}
                    (Some(Kind::Word), _) if PREFIXES.contains(&word) && self.begins_operand(at + 1) => {}
                    (Some(Kind::Punct | Kind::Close) | None, _) => return at,
                    _ => is_operand = true,
                }
            }
            at = self.after(at);
        }
        at.min(end)
    }

    /// Whether a type continues after one of [`PREFIXES`].
    fn begins_operand(&self, at: usize) -> bool {
        match self.tokens.kind(at) {
            Some(Kind::Word) => !self.is(at, b"is"),
            Some(Kind::Number | Kind::Text | Kind::Open) => true,
            Some(Kind::Punct) => self.is(at, b"<"),
            _ => false,
        }
    }

    /// The position after the `>` of the `<` at `start`.
    pub(super) fn angle_end(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        let mut depth = 0_usize;
        while at < end {
            match (self.tokens.kind(at), self.word(at)) {
                (Some(Kind::Punct), b"<") => depth += 1,
                (Some(Kind::Punct), b">") => depth -= 1,
                (Some(Kind::Close), _) => return at,
                _ => {}
            }
            at = self.after(at);
            if depth == 0 {
                break;
            }
        }
        at.min(end)
    }

    /// The position after the type arguments at `start`, if those of a call are there.
    pub(super) fn type_arguments_end(&self, start: usize) -> Option<usize> {
        let mut at = start;
        let mut depth = 0_usize;
        for _ in 0..LOOKAHEAD {
            match (self.tokens.kind(at)?, self.word(at)) {
                (Kind::Punct, b"<") => depth += 1,
                (Kind::Punct, b">") => depth -= 1,
                (Kind::Punct, b"," | b"." | b"|" | b"&" | b"=>" | b"?" | b":" | b"-") => {}
                (Kind::Punct | Kind::Close, _) => return None,
                _ => {}
            }
            at = self.after(at);
            if depth == 0 {
                let is_call = self.is_open(at, b"(") || self.is_open(at, b"`");
                return is_call.then_some(at);
            }
        }
        None
    }

    /// The `=>` after a return type whose `:` is at `at`.
    pub(super) fn arrow_after_type(&self, at: usize, end: usize) -> Option<usize> {
        if !self.is(at, b":") || !self.dialect.types {
            return None;
        }
        let end = end.min(at + LOOKAHEAD);
        // `(a): (b) => c => d` has a function for its type, and `(a): (b | c) => d` has parentheses.
        [true, false]
            .into_iter()
            .map(|takes_arrows| self.type_end_with(at + 1, end, takes_arrows))
            .find(|arrow| self.is(*arrow, b"=>"))
    }
}

//! Parameters and return types.

use std::ops::Range;

use super::reader::{Reader, key};
use super::value::Mode;
use crate::outline::Head;
use crate::tokens::Kind;

/// Words before the name of a parameter that make it a property.
const MODIFIERS: [&[u8]; 5] = [b"public", b"private", b"protected", b"readonly", b"override"];

impl Reader<'_, '_> {
    /// Writes the head of a function from its `<` or `(` at `at`. Returns the index after it, where a body would begin.
    pub(super) fn function(&self, at: usize, end: usize, head: &mut Head, depth: usize) -> usize {
        let mut at = at;
        if self.is(at, b"<") {
            let close = self.angle_end(at, end);
            self.write_exact(at..close, head);
            at = close;
        }
        if !self.is_open(at, b"(") {
            return at;
        }
        self.parameters(self.inside(at), head, depth);
        at = self.after(at);
        if self.is(at, b":") && at < end {
            let close = self.type_end(at + 1, end);
            self.write_exact(at..close, head);
            at = close;
        }
        at
    }

    /// The position after the body at `at`, if one is there.
    pub(super) fn body_end(&self, at: usize) -> Option<usize> {
        self.is_open(at, b"{").then(|| self.after(at))
    }

    /// Writes parameters, defaults as far as their types depend on them.
    pub(super) fn parameters(&self, range: Range<usize>, head: &mut Head, depth: usize) {
        head.push(b"(");
        let mut at = range.start;
        while at < range.end {
            at = self.decorators_end(at);
            while MODIFIERS.contains(&self.word(at))
                && (self.tokens.is_name(at + 1) || self.tokens.kind(at + 1) == Some(Kind::Open))
            {
                head.push(self.word(at));
                at += 1;
            }
            at = self.parameter(at, range.end, head, depth);
            if at < range.end {
                // The comma, or unparsed text.
                self.write(at, head);
                at += 1;
            }
        }
        if head.last() == Some(b",") {
            head.pop();
        }
        head.push(b")");
    }

    /// Writes one parameter up to its comma.
    fn parameter(&self, start: usize, end: usize, head: &mut Head, depth: usize) -> usize {
        let mut at = start;
        while at < end {
            match (self.tokens.kind(at), self.word(at)) {
                (Some(Kind::Punct), b",") => break,
                (Some(Kind::Punct), b":") => {
                    let close = self.type_end(at + 1, end).max(at + 1);
                    self.write_exact(at..close, head);
                    at = close;
                    continue;
                }
                (Some(Kind::Punct), b"=") => {
                    let close = self.expression_end(at + 1, end).max(at + 1);
                    head.push(b"=");
                    self.value(at + 1..close, Mode::Widened, head, depth + 1);
                    at = close;
                    continue;
                }
                (Some(Kind::Open), b"{" | b"[") => {
                    self.pattern(at, head, depth);
                    at = self.after(at);
                    continue;
                }
                (Some(Kind::Word), name) => head.push(&key(name)),
                _ => self.write(at, head),
            }
            at += 1;
        }
        at
    }

    /// Writes a pattern: names, and defaults as far as their types depend on them.
    pub(super) fn pattern(&self, open: usize, head: &mut Head, depth: usize) {
        self.value(open..self.after(open), Mode::Widened, head, depth + 1);
    }

    /// The position after the decorators at `at`.
    pub(super) fn decorators_end(&self, at: usize) -> usize {
        let mut at = at;
        while self.word(at).first() == Some(&b'@') {
            at += 1;
            loop {
                if self.is(at, b".") {
                    at += 2;
                } else if self.is(at, b"<") {
                    match self.type_arguments_end(at) {
                        Some(end) => at = end,
                        None => return at,
                    }
                } else if self.is_open(at, b"(") {
                    at = self.after(at);
                } else {
                    break;
                }
            }
        }
        at
    }
}

//! Initializers, as far as their types depend on them.

use std::ops::Range;

use super::reader::{MAX_DEPTH, Reader, key};
use crate::outline::Head;
use crate::tokens::Kind;

/// The relevant part of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Its value; inside an object or array, its kind. TypeScript infers the type of a constant in the same way.
    Constant,
    /// Its kind.
    Widened,
    /// Its value, even inside objects and arrays.
    Exact,
}

impl Mode {
    fn inside_literal(self) -> Mode {
        match self {
            Mode::Exact => Mode::Exact,
            Mode::Constant | Mode::Widened => Mode::Widened,
        }
    }
}

impl Reader<'_, '_> {
    /// Writes the initializer in `range` of a constant, or of a variable that can change.
    pub(super) fn initializer(&self, range: Range<usize>, is_constant: bool, head: &mut Head, depth: usize) {
        let is_const_assertion =
            |at: &usize| self.is(*at, b"const") && *at > 0 && matches!(self.word(*at - 1), b"as" | b"<");
        let mode = if range.clone().any(|at| is_const_assertion(&at)) {
            Mode::Exact
        } else if is_constant {
            Mode::Constant
        } else {
            Mode::Widened
        };
        self.value(range, mode, head, depth);
    }

    /// Writes the expressions in `range`: without the bodies of functions, and literals by `mode`.
    pub(super) fn value(&self, range: Range<usize>, mode: Mode, head: &mut Head, depth: usize) {
        if depth > MAX_DEPTH {
            return self.write_exact(range, head);
        }
        let mut at = range.start;
        let mut is_operand = false;
        while at < range.end {
            let was_operand = std::mem::replace(&mut is_operand, true);
            at = match self.tokens.kind(at) {
                Some(Kind::Open) => self.bracket(at, range.end, mode, was_operand, head, depth),
                Some(Kind::Text | Kind::Number) => {
                    self.literal(at, mode, head);
                    at + 1
                }
                Some(Kind::Word) => {
                    is_operand = !matches!(
                        self.word(at),
                        b"new" | b"typeof" | b"await" | b"async" | b"void" | b"in" | b"instanceof"
                    );
                    self.name(at, range.end, mode, was_operand, head, depth)
                }
                Some(Kind::Punct) if self.is(at, b"<") => {
                    let close = if was_operand {
                        self.type_arguments_end(at).unwrap_or(at + 1)
                    } else {
                        self.angle_end(at, range.end)
                    };
                    is_operand = was_operand && close > at + 1;
                    self.write_exact(at..close, head);
                    close
                }
                Some(Kind::Punct) if matches!(self.word(at), b"-" | b"+") && !was_operand && mode == Mode::Widened => {
                    is_operand = false;
                    at + 1
                }
                _ => {
                    is_operand = false;
                    self.write(at, head);
                    at + 1
                }
            };
        }
    }

    fn literal(&self, at: usize, mode: Mode, head: &mut Head) {
        let word = self.word(at);
        match self.tokens.kind(at) {
            Some(Kind::Text) if word.first() == Some(&b'/') => head.push(b"#regex"),
            Some(Kind::Text) if mode == Mode::Widened => head.push(b"#string"),
            Some(Kind::Number) if mode == Mode::Widened => {
                head.push(if word.ends_with(b"n") { b"#bigint" } else { b"#number" });
            }
            _ => self.write(at, head),
        }
    }

    /// Writes the value that begins with a bracket. Returns the index after it.
    fn bracket(&self, at: usize, end: usize, mode: Mode, was_operand: bool, head: &mut Head, depth: usize) -> usize {
        let (inside, after) = (self.inside(at), self.after(at));
        match self.word(at) {
            b"(" => {
                if !was_operand {
                    let arrow = if self.is(after, b"=>") {
                        Some(after)
                    } else {
                        self.arrow_after_type(after, end)
                    };
                    if let Some(arrow) = arrow {
                        self.parameters(inside, head, depth + 1);
                        self.write_exact(after..arrow, head);
                        return self.write_arrow(arrow, end, head);
                    }
                }
                head.push(b"(");
                let mode = if was_operand { Mode::Exact } else { mode };
                self.value(inside, mode, head, depth + 1);
                self.write(after - 1, head);
            }
            b"[" => {
                head.push(b"[");
                self.value(inside, mode.inside_literal(), head, depth + 1);
                self.write(after - 1, head);
            }
            b"{" => self.object(inside, mode.inside_literal(), head, depth + 1),
            b"<" => head.push(b"#element"),
            // A template: a literal type where it has no holes, or where it is constant.
            _ if mode == Mode::Exact || mode == Mode::Constant && inside.len() == 1 => {
                self.write_exact(at..after, head);
            }
            _ => head.push(b"#string"),
        }
        after
    }

    /// Writes the meaning of a word in an expression. Returns the index after it.
    fn name(&self, at: usize, end: usize, mode: Mode, was_operand: bool, head: &mut Head, depth: usize) -> usize {
        let word = self.word(at);
        let is_property = at > 0 && matches!(self.word(at - 1), b"." | b"?.");
        match word {
            _ if is_property => {}
            b"function" => {
                head.push(word);
                let mut next = at + 1;
                if self.is(next, b"*") {
                    head.push(b"*");
                    next += 1;
                }
                if self.tokens.is_name(next) {
                    next += 1;
                }
                let body = self.function(next, end, head, depth + 1);
                self.fields_of_body(body, head);
                return self.body_end(body).unwrap_or(body.max(at + 1));
            }
            b"class" => return self.class(at, end, head, depth + 1).max(at + 1),
            b"as" | b"satisfies" if was_operand => {
                let close = self.type_end(at + 1, end).max(at + 1);
                self.write_exact(at..close, head);
                return close;
            }
            b"true" | b"false" if mode == Mode::Widened => {
                head.push(b"#boolean");
                return at + 1;
            }
            _ if self.is(at + 1, b"=>") => {
                for part in [&b"("[..], &key(word), b")"] {
                    head.push(part);
                }
                return self.write_arrow(at + 1, end, head);
            }
            _ => {}
        }
        head.push(word);
        at + 1
    }

    /// Writes the arrow at `arrow`. Returns the index after the body.
    fn write_arrow(&self, arrow: usize, end: usize, head: &mut Head) -> usize {
        head.push(b"=>");
        let body = arrow + 1;
        self.body_end(body)
            .unwrap_or_else(|| self.expression_end(body, end))
            .max(body)
    }

    /// Writes the properties of an object, or of a pattern.
    fn object(&self, range: Range<usize>, mode: Mode, head: &mut Head, depth: usize) {
        head.push(b"{");
        let mut at = range.start;
        while at < range.end {
            at = self.property(at, range.end, mode, head, depth).max(at + 1);
            if self.is(at, b",") {
                at += 1;
            }
            head.push(b",");
        }
        if head.last() == Some(b",") {
            head.pop();
        }
        head.push(b"}");
    }

    /// Writes the property at `at`. Returns the index after it.
    pub(super) fn property(&self, start: usize, end: usize, mode: Mode, head: &mut Head, depth: usize) -> usize {
        let value_from = |at: usize, head: &mut Head| {
            let close = self.expression_end(at, end).max(at);
            self.value(at..close, mode, head, depth);
            close
        };
        let mut at = start;
        if self.is(at, b"...") {
            head.push(b"...");
            return value_from(at + 1, head);
        }
        while matches!(self.word(at), b"async" | b"get" | b"set" | b"*") && self.is_name_of_property(at + 1) {
            head.push(self.word(at));
            at += 1;
        }
        let name = at;
        at = self.after(at);
        let following = if at < end { self.word(at) } else { b"" };
        if matches!(following, b"," | b"=" | b"") && self.tokens.is_name(name) {
            // A reference: `{ name }`.
            head.push(self.word(name));
        } else {
            self.property_name(name, head, depth);
        }
        match following {
            b":" | b"=" => {
                head.push(following);
                value_from(at + 1, head)
            }
            b"(" | b"<" => {
                let body = self.function(at, end, head, depth);
                self.body_end(body).unwrap_or(body)
            }
            _ => at,
        }
    }

    /// Whether the name of a property or member begins at `at`, so that the word before it is a modifier.
    pub(super) fn is_name_of_property(&self, at: usize) -> bool {
        match self.tokens.kind(at) {
            Some(Kind::Word | Kind::Text | Kind::Number) => true,
            Some(Kind::Open) => self.is(at, b"["),
            Some(Kind::Punct) => self.is(at, b"*"),
            _ => false,
        }
    }

    /// Writes the name of a property or member: quotes around it do not count.
    pub(super) fn property_name(&self, at: usize, head: &mut Head, depth: usize) {
        match self.tokens.kind(at) {
            Some(Kind::Text) => head.push(&key(&self.string(at))),
            Some(Kind::Open) => {
                head.push(b"[");
                self.value(self.inside(at), Mode::Exact, head, depth + 1);
                head.push(b"]");
            }
            _ => head.push(&key(self.word(at))),
        }
    }
}

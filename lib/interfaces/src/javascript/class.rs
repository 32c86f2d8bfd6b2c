//! Classes: their parents, and the heads of their members.

use std::collections::BTreeSet;
use std::ops::Range;

use super::reader::{MAX_DEPTH, Reader, key};
use super::value::Mode;
use crate::outline::Head;
use crate::tokens::Kind;

/// Words before the name of a member.
const MODIFIERS: [&[u8]; 13] = [
    b"public",
    b"private",
    b"protected",
    b"static",
    b"abstract",
    b"readonly",
    b"override",
    b"declare",
    b"async",
    b"accessor",
    b"get",
    b"set",
    b"*",
];

impl Reader<'_, '_> {
    /// Writes the class whose `class` is at `at`. Returns the index after it.
    pub(super) fn class(&self, at: usize, end: usize, head: &mut Head, depth: usize) -> usize {
        head.push(b"class");
        let mut at = at + 1;
        if self.tokens.is_name(at) && !matches!(self.word(at), b"extends" | b"implements") {
            // Its name is that of the declaration.
            at += 1;
        }
        let start = at;
        while at < end && !self.is_open(at, b"{") {
            at = if self.is(at, b"<") {
                self.angle_end(at, end)
            } else {
                self.after(at)
            };
        }
        if depth > MAX_DEPTH {
            let after = self.after(at).min(end);
            self.write_exact(start..after, head);
            return after;
        }
        self.value(start..at.min(end), Mode::Exact, head, depth + 1);
        if at >= end {
            return end;
        }
        self.members(self.inside(at), head, depth + 1);
        self.after(at)
    }

    fn members(&self, range: Range<usize>, head: &mut Head, depth: usize) {
        head.push(b"{");
        let mut has_private = false;
        // The last member without a body: a later member of the same name implements it, and is not written.
        let mut signature: Option<Head> = None;
        let mut at = range.start;
        while at < range.end {
            let start = self.decorators_end(at);
            if self.is(start, b";") {
                at = start + 1;
                continue;
            }
            if self.is(start, b"static") && self.is_open(start + 1, b"{") {
                at = self.after(start + 1);
                continue;
            }
            let (mut name, mut member_head) = (Head::default(), Head::default());
            let member = self.member(start, range.end, &mut name, &mut member_head, depth);
            at = member.end.max(start + 1);
            has_private |= member.is_hash;
            let is_hidden = member.is_hash || member.has_body && signature.as_ref() == Some(&name);
            if !is_hidden {
                head.append(&name);
                head.append(&member_head);
                head.push(b";");
            }
            signature = (!member.has_body).then_some(name);
        }
        if has_private {
            head.push(b"#private");
        }
        head.push(b"}");
    }

    /// Reads the member at `start`: modifiers and name into `name`, the rest of its head into `head`.
    fn member(&self, start: usize, end: usize, name: &mut Head, head: &mut Head, depth: usize) -> Member {
        let mut at = start;
        let (mut is_private, mut is_constant) = (false, false);
        let (mut return_modifiers, mut is_accessor) = (Vec::new(), false);
        while MODIFIERS.contains(&self.word(at)) && self.is_name_of_property(at + 1) {
            let word = self.word(at);
            match word {
                b"public" | b"override" | b"declare" => {}
                // A declared return type already shows them.
                b"async" | b"*" => return_modifiers.push(word),
                _ => name.push(word),
            }
            is_accessor |= matches!(word, b"get" | b"set");
            is_private |= word == b"private";
            is_constant |= word == b"readonly";
            at += 1;
        }
        let key_at = at;
        let is_hash = self.word(key_at).first() == Some(&b'#');
        self.property_name(key_at, name, depth);
        at = self.after(at);
        if matches!(self.word(at), b"?" | b"!") {
            if self.is(at, b"?") {
                name.push(b"?");
            }
            at += 1;
        }
        let mut ignored = Head::default();
        let head = if is_private { &mut ignored } else { head };
        let mut member = Member {
            end: at,
            is_hash,
            has_body: false,
        };
        if self.is_open(at, b"(") || self.is(at, b"<") {
            let body = self.function(at, end, head, depth + 1);
            if self.is(body.wrapping_sub(1), b")") {
                for word in return_modifiers {
                    head.push(word);
                }
            }
            member.has_body = self.is_open(body, b"{") && !is_accessor;
            if self.is(key_at, b"constructor") {
                self.fields_of_body(body, head);
            }
            member.end = self.body_end(body).unwrap_or(body);
            return member;
        }
        if self.is(at, b":") {
            let close = self.type_end(at + 1, end);
            self.write_exact(at..close, head);
            at = close;
            if self.is(at, b"=") {
                // Its type is declared.
                at = self.expression_end(at + 1, end);
            }
        } else if self.is(at, b"=") {
            let close = self.expression_end(at + 1, end);
            head.push(b"=");
            self.initializer(at + 1..close, is_constant, head, depth + 1);
            at = close;
        }
        member.end = at;
        member
    }

    /// In JavaScript, a constructor declares the fields that it sets: writes the names of a body's `this.NAME = ...`.
    pub(super) fn fields_of_body(&self, body: usize, head: &mut Head) {
        if self.dialect.types || !self.is_open(body, b"{") {
            return;
        }
        let fields: BTreeSet<&[u8]> = self
            .inside(body)
            .filter(|at| {
                self.is(*at, b"this")
                    && self.is(at + 1, b".")
                    && self.is(at + 3, b"=")
                    && self.tokens.kind(at + 3) == Some(Kind::Punct)
            })
            .map(|at| self.word(at + 2))
            .collect();
        for field in fields {
            head.push(b"this");
            head.push(&key(field));
        }
    }
}

struct Member {
    end: usize,
    /// Its name begins with `#`.
    is_hash: bool,
    has_body: bool,
}

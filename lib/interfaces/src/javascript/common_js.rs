//! The exports of CommonJS, and the members that a script adds to its own functions and classes.

use super::reader::{Reader, key};
use super::value::Mode;
use crate::outline::{Head, Outline};
use crate::tokens::Kind;

/// Macros of components whose calls are part of a component's interface.
const MACROS: [&[u8]; 9] = [
    b"defineProps",
    b"defineEmits",
    b"defineModel",
    b"defineSlots",
    b"defineExpose",
    b"defineOptions",
    b"withDefaults",
    b"$props",
    b"$bindable",
];

impl Reader<'_, '_> {
    /// Adds every `exports.NAME = ...` and `module.exports = ...`, wherever it is in the file.
    pub(super) fn common_js(&mut self, outline: &mut Outline) {
        // The end of the last value: an assignment inside it only adds its name.
        let mut read_to = 0;
        for at in 0..self.tokens.len() {
            if at > 0 && self.is(at - 1, b".") && !self.is(at, b"exports") {
                continue;
            }
            match self.word(at) {
                // A file that requires others has a separate namespace.
                b"require" => self.is_module |= self.is_open(at + 1, b"("),
                b"exports" if at > 0 && self.is(at - 1, b".") => {
                    let is_whole = at > 1 && self.is(at - 2, b"module") && !(at > 2 && self.is(at - 3, b"."));
                    if is_whole {
                        read_to = self.add_assignment(at, true, read_to, outline);
                    }
                }
                b"exports" => read_to = self.add_assignment(at, false, read_to, outline),
                b"Object"
                    if self.is(at + 2, b"defineProperty") && self.is(at + 4, b"exports") && self.is(at + 5, b",") =>
                {
                    let mut head = Head::default();
                    let arguments = at + 7..self.inside(at + 3).end;
                    if self.tokens.kind(at + 6) == Some(Kind::Text) && !self.is_marker(at + 6) {
                        self.value(arguments, Mode::Widened, &mut head, 1);
                        outline.add_exported(&self.string(at + 6), &head);
                    }
                }
                b"__exportStar" | b"__export" | b"__reExport" if self.is_open(at + 1, b"(") => {
                    self.add_helper_call(at + 1, outline);
                }
                _ => {}
            }
        }
    }

    fn is_marker(&self, at: usize) -> bool {
        self.string(at) == b"__esModule"
    }

    /// Adds the exports of `__exportStar(require('a'), exports)` and `__export(exports, { a: () => b })`, which
    /// compilers and bundlers write. The parenthesis is at `open`.
    fn add_helper_call(&self, open: usize, outline: &mut Outline) {
        for at in self.inside(open) {
            if self.is(at, b"require") && self.tokens.kind(at + 2) == Some(Kind::Text) {
                outline.add_exported(&[b"* from ", &self.string(at + 2)[..]].concat(), &Head::default());
            }
            if self.is_open(at, b"{") && self.is(at.wrapping_sub(1), b",") {
                self.add_properties(at, true, outline);
                return;
            }
        }
    }

    /// Adds the assignment to `exports` at `at`, if it is one. Returns how far values were read.
    fn add_assignment(&self, at: usize, is_whole: bool, read_to: usize, outline: &mut Outline) -> usize {
        let (name, assign) = match self.word(at + 1) {
            b"." => (Some(self.word(at + 2).to_owned()), at + 3),
            b"[" if self.tokens.kind(at + 2) == Some(Kind::Text) => (Some(self.string(at + 2)), at + 4),
            _ if is_whole => (None, at + 1),
            _ => return read_to,
        };
        if !self.is(assign, b"=") || name.as_deref() == Some(b"__esModule") {
            return read_to;
        }
        let end = self.tokens.len();
        let mut names = vec![name.unwrap_or_else(|| b"module.exports".to_vec())];
        if at < read_to {
            outline.add_exported(&names[0], &Head::default());
            return read_to;
        }
        // `exports.a = module.exports = c`
        let mut start = assign + 1;
        while let Some((name, value)) = self.next_in_chain(start) {
            names.push(name);
            start = value;
        }
        let close = self.expression_end(start, end);
        if self.is(start, b"void") {
            return close;
        }
        if self.is_open(start, b"{") && close == self.after(start) && names.iter().any(|name| name == b"module.exports")
        {
            self.add_properties(start, false, outline);
            return close;
        }
        let mut head = Head::default();
        self.write_expression(start, end, &mut head);
        if close == start + 1 && self.tokens.is_name(start) && outline.has(self.word(start)) {
            outline.add_alias(&names[0], self.word(start));
        } else {
            outline.add_exported(&names[0], &head);
        }
        for name in &names[1..] {
            outline.add_alias(name, &names[0]);
        }
        close
    }

    /// The name and the value of the assignment to `exports` at `at`, in a chain of assignments.
    fn next_in_chain(&self, at: usize) -> Option<(Vec<u8>, usize)> {
        let (name, assign) = match (self.word(at), self.word(at + 1), self.word(at + 2)) {
            (b"exports", b".", name) => (name, at + 3),
            (b"exports", b"=", _) => (&b"module.exports"[..], at + 1),
            (b"module", b".", b"exports") if self.is(at + 3, b".") => (self.word(at + 4), at + 5),
            (b"module", b".", b"exports") => (&b"module.exports"[..], at + 3),
            _ => return None,
        };
        self.is(assign, b"=").then(|| (name.to_owned(), assign + 1))
    }

    /// Adds each property of the object at `open` as an export.
    fn add_properties(&self, open: usize, are_getters: bool, outline: &mut Outline) {
        let inside = self.inside(open);
        let mut at = inside.start;
        outline.add_exported(b"module.exports", &Head::of(&[b"{}"]));
        while at < inside.end {
            let close = self.expression_end(at, inside.end).max(at);
            let after = at + 1;
            if self.tokens.is_name(at) && close == after {
                outline.add_alias(self.word(at), self.word(at));
            } else if self.is(after, b":") && matches!(self.tokens.kind(at), Some(Kind::Word | Kind::Text)) {
                let name = self.name_at(at);
                // In `a: () => b`, the value of the export `a` is `b`.
                let value = after + if are_getters && self.is(after + 3, b"=>") { 4 } else { 1 };
                if value + 1 == close && self.tokens.is_name(value) && outline.has(self.word(value)) {
                    outline.add_alias(&name, self.word(value));
                } else {
                    let mut head = Head::default();
                    self.value(value..close, Mode::Widened, &mut head, 1);
                    outline.add_exported(&name, &head);
                }
            } else {
                // A method or an accessor is added by its name, a spread object by that of the whole.
                let mut name = at;
                while matches!(self.word(name), b"async" | b"get" | b"set" | b"*") && self.is_name_of_property(name + 1)
                {
                    name += 1;
                }
                let mut head = Head::default();
                let end = self.property(at, inside.end, Mode::Widened, &mut head, 1);
                let has_name = self.tokens.is_name(name) && !self.is(at, b"...");
                outline.add_exported(if has_name { self.word(name) } else { b"module.exports" }, &head);
                at = end.max(at + 1);
                at += usize::from(self.is(at, b","));
                continue;
            }
            at = close + 1;
        }
    }

    /// Adds the members that a statement at the top of the file sets on a declared name: `A.b = ...`, `A.prototype.b =
    /// ...`, `Object.assign(A, ...)`. Returns its end.
    pub(super) fn statement(&self, at: usize, end: usize, outline: &mut Outline) -> usize {
        let close = self.statement_end(at, end);
        let name = self.word(at);
        if self.is(at + 1, b".") && outline.has(name) {
            let mut assign = at + 1;
            while self.is(assign, b".") && self.tokens.is_name(assign + 1) {
                assign += 2;
            }
            if self.is(assign, b"=") {
                let mut head = Head::default();
                for part in (at + 2..assign).step_by(2) {
                    head.push(&key(self.word(part)));
                }
                self.write_expression(assign + 1, close, &mut head);
                outline.add_local(name, &head);
            }
        }
        let call = (at..close.min(at + 4)).find(|at| self.is_open(*at, b"("));
        let is_setter = |at: usize| {
            matches!(
                self.word(at),
                b"assign" | b"defineProperty" | b"defineProperties" | b"setPrototypeOf" | b"inherits"
            )
        };
        if let Some(open) = call
            && open > at
            && is_setter(open - 1)
            && outline.has(self.word(open + 1))
        {
            let mut head = Head::default();
            self.value(open..self.after(open), Mode::Widened, &mut head, 0);
            outline.add_local(self.word(open + 1), &head);
        }
        close
    }

    /// Adds the calls of a component's macros.
    pub(super) fn macros(&self, outline: &mut Outline) {
        let mut read_to = 0;
        for at in 0..self.tokens.len() {
            let word = self.word(at);
            if at < read_to || !MACROS.contains(&word) || at > 0 && self.is(at - 1, b".") {
                continue;
            }
            read_to = self.expression_end(at, self.tokens.len());
            let mut head = Head::default();
            if at > 0 && self.is(at - 1, b"=") {
                // `let { a, b }: Props = $props()`
                self.value(self.declaration_start(at - 1)..at, Mode::Exact, &mut head, 0);
            }
            self.value(at..read_to, Mode::Exact, &mut head, 0);
            outline.add_exported(word, &head);
        }
    }

    /// Index of the pattern or name that is declared before the `=` at `at`, with its type.
    fn declaration_start(&self, at: usize) -> usize {
        let mut start = at;
        for _ in 0..64 {
            if start == 0 || matches!(self.word(start), b"let" | b"const" | b"var" | b";") {
                break;
            }
            start = match self.tokens.kind(start - 1) {
                Some(Kind::Close) => self.tokens.partner(start - 1),
                _ => start - 1,
            };
        }
        start
    }
}

//! Declarations.

use super::reader::{MAX_DEPTH, Reader};
use super::value::Mode;
use crate::outline::Head;
use crate::tokens::Kind;

/// A declaration that was read.
#[derive(Debug, Default)]
pub(super) struct Declaration<'t> {
    pub(super) names: Vec<(&'t [u8], Head)>,
    /// Index after it.
    pub(super) end: usize,
    /// A function without a body.
    pub(super) is_signature: bool,
    /// A function with a body.
    pub(super) has_body: bool,
    /// `declare module 'x'`, `declare global`: it affects every file, exported or not.
    pub(super) is_global: bool,
    /// It has a value, unlike a type and an ambient declaration.
    pub(super) has_code: bool,
}

impl<'t> Reader<'_, 't> {
    /// Reads the declaration at `start`, after `export`. `None` if there is none.
    pub(super) fn declaration(&self, start: usize, end: usize, depth: usize) -> Option<Declaration<'t>> {
        let mut declaration = self.declaration_of_any_kind(start, end, depth)?;
        declaration.has_code = match self.word(self.decorators_end(start)) {
            b"declare" | b"interface" | b"type" => false,
            b"const" | b"let" | b"var" => (start..declaration.end).any(|at| self.is(at, b"=")),
            b"function" | b"async" => declaration.has_body,
            _ => true,
        };
        Some(declaration)
    }

    /// Reads the declaration at `start`, apart from [`Declaration::has_code`].
    fn declaration_of_any_kind(&self, start: usize, end: usize, depth: usize) -> Option<Declaration<'t>> {
        let mut at = self.decorators_end(start);
        let mut head = Head::default();
        let mut is_ambient = false;
        loop {
            let next = at + 1;
            match self.word(at) {
                b"declare" if self.begins_declaration(next) => is_ambient = true,
                b"abstract" if self.is(next, b"class") => head.push(b"abstract"),
                b"async" if self.is(next, b"function") => head.push(b"async"),
                b"const" if self.is(next, b"enum") => head.push(b"const"),
                _ => break,
            }
            at = next;
        }
        let next = at + 1;
        let names_follow = self.tokens.is_name(next);
        match self.word(at) {
            b"function" => Some(self.function_declaration(at, end, head, depth)),
            b"class" if names_follow || self.is_open(next, b"{") => {
                let name = if names_follow { self.word(next) } else { b"" };
                let after = self.class(at, end, &mut head, depth);
                Some(Declaration::new(name, head, after))
            }
            b"interface" | b"enum" if names_follow => {
                head.push(self.word(at));
                let mut body = next + 1;
                while body < end && !self.is_open(body, b"{") {
                    body = if self.is(body, b"<") {
                        self.angle_end(body, end)
                    } else {
                        self.after(body)
                    };
                }
                let after = self.after(body).min(end);
                self.write_exact(next + 1..after, &mut head);
                Some(Declaration::new(self.word(next), head, after))
            }
            b"type" if names_follow && matches!(self.word(next + 1), b"=" | b"<") => {
                head.push(b"type");
                let mut after = next + 1;
                if self.is(after, b"<") {
                    after = self.angle_end(after, end);
                }
                after = self.type_end((after + 1).min(end), end);
                self.write_exact(next + 1..after, &mut head);
                Some(Declaration::new(self.word(next), head, after))
            }
            b"namespace" | b"module" | b"global" => self.namespace(at, end, is_ambient, head, depth),
            b"const" | b"let" | b"var" | b"using"
                if names_follow || self.is_open(next, b"{") || self.is_open(next, b"[") =>
            {
                Some(self.variables(at, end, depth))
            }
            _ => None,
        }
    }

    fn begins_declaration(&self, at: usize) -> bool {
        matches!(
            self.word(at),
            b"function"
                | b"class"
                | b"interface"
                | b"enum"
                | b"type"
                | b"namespace"
                | b"module"
                | b"global"
                | b"const"
                | b"let"
                | b"var"
                | b"abstract"
                | b"async"
        )
    }

    fn function_declaration(&self, at: usize, end: usize, mut head: Head, depth: usize) -> Declaration<'t> {
        let mut return_modifiers = vec![];
        if head.last() == Some(b"async") {
            head.pop();
            return_modifiers.push(&b"async"[..]);
        }
        head.push(b"function");
        let mut at = at + 1;
        if self.is(at, b"*") {
            return_modifiers.push(b"*");
            at += 1;
        }
        let name = if self.tokens.is_name(at) { self.word(at) } else { b"" };
        at += usize::from(!name.is_empty());
        let body = self.function(at, end, &mut head, depth + 1);
        // A declared return type already shows them.
        if self.is(body.wrapping_sub(1), b")") {
            for word in return_modifiers {
                head.push(word);
            }
        }
        self.fields_of_body(body, &mut head);
        let after = self.body_end(body);
        Declaration {
            is_signature: after.is_none(),
            has_body: after.is_some(),
            ..Declaration::new(name, head, after.unwrap_or(body))
        }
    }

    fn namespace(
        &self,
        at: usize,
        end: usize,
        is_ambient: bool,
        mut head: Head,
        depth: usize,
    ) -> Option<Declaration<'t>> {
        let is_global = self.is(at, b"global");
        let mut body = at + 1;
        if !is_global {
            match self.tokens.kind(body) {
                Some(Kind::Word | Kind::Text) => body += 1,
                _ => return None,
            }
            while self.is(body, b".") {
                body += 2;
            }
        }
        let is_text = self.tokens.kind(at + 1) == Some(Kind::Text);
        if !(self.is_open(body, b"{") || is_ambient && is_text) {
            return None;
        }
        head.push(self.word(at));
        self.write_exact(at + 1..body, &mut head);
        let after = if self.is_open(body, b"{") {
            if is_ambient || depth > MAX_DEPTH {
                self.write_exact(body..self.after(body), &mut head);
            } else {
                self.namespace_body(body, &mut head, depth + 1);
            }
            self.after(body)
        } else {
            body
        };
        let name = match self.word(at + 1) {
            _ if is_global => b"global",
            [b'\'' | b'"', name @ .., _] => name,
            name => name,
        };
        Some(Declaration {
            is_global: is_global || is_text,
            ..Declaration::new(name, head, after.min(end))
        })
    }

    /// Writes the declarations of a namespace.
    fn namespace_body(&self, open: usize, head: &mut Head, depth: usize) {
        let inside = self.inside(open);
        let mut at = inside.start;
        head.push(b"{");
        while at < inside.end {
            let start = at;
            let is_exported = self.is(at, b"export");
            at += usize::from(is_exported);
            match self.declaration(at, inside.end, depth) {
                Some(declaration) => {
                    for (name, declaration_head) in &declaration.names {
                        head.push(if is_exported { b"export" } else { b"-" });
                        head.push(name);
                        head.append(declaration_head);
                    }
                    at = declaration.end;
                }
                None => at = self.statement_end(at, inside.end),
            }
            at = at.max(start + 1);
        }
        head.push(b"}");
    }

    /// Reads `const a = 1, { b, c } = d`.
    fn variables(&self, at: usize, end: usize, depth: usize) -> Declaration<'t> {
        let is_constant = self.is(at, b"const");
        let mut declaration = Declaration::default();
        let mut at = at + 1;
        loop {
            let start = at;
            let mut head = Head::of(&[if is_constant { b"const" } else { b"let" }]);
            let mut names = Vec::new();
            if self.tokens.kind(at) == Some(Kind::Open) {
                self.pattern(at, &mut head, depth);
                names.extend(self.names_of_pattern(at));
            } else {
                names.push(self.word(at));
            }
            at = self.after(at);
            at += usize::from(self.is(at, b"!"));
            let is_declared = self.is(at, b":");
            if is_declared {
                let close = self.type_end(at + 1, end).max(at + 1);
                self.write_exact(at..close, &mut head);
                at = close;
            }
            if self.is(at, b"=") {
                let close = self.expression_end(at + 1, end).max(at + 1);
                if !is_declared {
                    head.push(b"=");
                    self.initializer(at + 1..close, is_constant, &mut head, depth);
                }
                at = close;
            }
            if let [name] = names[..] {
                declaration.names.push((name, head));
            } else {
                // The head of each name is a digest of the whole pattern, so that heads are not longer than the text.
                // It also has the first name, whose own head has all names of the pattern.
                let mut digest = head.digest();
                digest.push(names.first().copied().unwrap_or_default());
                declaration
                    .names
                    .extend(names.iter().map(|name| (*name, digest.clone())));
                declaration.names.extend(names.first().map(|name| (*name, head)));
            }
            if !self.is(at, b",") || at <= start || at >= end {
                break;
            }
            at += 1;
        }
        declaration.end = at.min(end);
        declaration
    }

    /// The names that a pattern binds.
    fn names_of_pattern(&self, open: usize) -> Vec<&'t [u8]> {
        self.inside(open)
            .filter(|at| {
                self.tokens.is_name(*at)
                    && matches!(self.word(at + 1), b"," | b"}" | b"]" | b"=")
                    && !matches!(self.word(at - 1), b"=" | b"." | b"?.")
            })
            .map(|at| self.word(at))
            .collect()
    }

    /// Writes the expression at `at`. Returns its end.
    pub(super) fn write_expression(&self, at: usize, end: usize, head: &mut Head) -> usize {
        let close = self.expression_end(at, end).max(at);
        if at < close {
            let is_const_assertion = self.is(close - 1, b"const") && self.is(close.wrapping_sub(2), b"as");
            let mode = if is_const_assertion {
                Mode::Exact
            } else {
                Mode::Constant
            };
            self.value(at..close, mode, head, 0);
        }
        close
    }
}

impl<'t> Declaration<'t> {
    fn new(name: &'t [u8], head: Head, end: usize) -> Self {
        Declaration {
            names: vec![(name, head)],
            end,
            ..Declaration::default()
        }
    }
}

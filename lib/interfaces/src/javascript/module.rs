//! The statements of a file: exports, imports, and the declarations that they name.

use super::reader::Reader;
use super::statement::Declaration;
use crate::outline::{Head, Outline};
use crate::tokens::Kind;

impl Reader<'_, '_> {
    /// Adds the declarations of the file.
    pub(super) fn module(&mut self, outline: &mut Outline) {
        let end = self.tokens.len();
        let mut at = 0;
        let mut signature: Option<&[u8]> = None;
        while at < end {
            let start = at;
            let before = signature.take();
            if self.tokens.kind(at) == Some(Kind::Punct) && self.is(at, b";") {
                at += 1;
                continue;
            }
            // Decorators may precede `export`.
            let first = self.decorators_end(at);
            let is_exported = self.is(first, b"export");
            let is_default = is_exported && self.is(first + 1, b"default");
            let declaration_start = if is_exported {
                first + 1 + usize::from(is_default)
            } else {
                at
            };
            if let Some(declaration) = self.declaration(declaration_start, end, 0) {
                self.is_module |= is_exported;
                self.has_code |= declaration.has_code;
                signature = declaration.is_signature.then(|| declaration.names[0].0);
                at = declaration.end;
                // The signatures of a function replace its implementation.
                if !(declaration.has_body && before == Some(declaration.names[0].0)) {
                    add(declaration, is_exported, is_default, outline);
                }
            } else if self.is(at, b"export") {
                self.is_module = true;
                at = self.export(at, end, outline);
            } else if self.is(at, b"import") && !matches!(self.word(at + 1), b"(" | b".") {
                self.is_module = true;
                at = self.import(at, end, false, outline);
            } else {
                self.has_code = true;
                at = self.statement(at, end, outline);
            }
            at = at.max(start + 1);
        }
    }

    /// Adds the export at `at`, which is not a declaration. Returns its end.
    fn export(&mut self, at: usize, end: usize, outline: &mut Outline) -> usize {
        let mut next = at + 1;
        match self.word(next) {
            b"default" => return self.exported_value(b"default", next + 1, end, outline),
            b"=" => return self.exported_value(b"export =", next + 1, end, outline),
            b"import" => return self.import(next, end, true, outline),
            b"as" => {
                // `export as namespace A`
                let close = self.statement_end(next, end);
                let mut head = Head::default();
                self.write_exact(next..close, &mut head);
                outline.add_exported(b"export as namespace", &head);
                return close;
            }
            _ => {}
        }
        let is_type = self.is(next, b"type") && matches!(self.word(next + 1), b"{" | b"*");
        next += usize::from(is_type);
        if self.is(next, b"*") {
            let name = self.is(next + 1, b"as").then(|| self.name_at(next + 2));
            let from = next + if name.is_some() { 3 } else { 1 };
            let source = self.string(from + 1);
            let mut head = self.source_head(is_type, &source);
            head.push(b"*");
            outline.add_exported(&name.unwrap_or_else(|| [b"* from ", &source[..]].concat()), &head);
            return self.statement_end(from, end);
        }
        if !self.is_open(next, b"{") {
            // `export @decorator class A {}`, or unparsed text: all of it counts.
            let close = self.statement_end(at + 1, end);
            let mut head = Head::default();
            self.write_exact(at..close, &mut head);
            outline.add_exported(b"export", &head);
            return close;
        }
        let after = self.after(next);
        self.has_export_list |= !self.is(after, b"from");
        let source = self.is(after, b"from").then(|| self.string(after + 1));
        for (local, name, is_one_type) in self.specifiers(next) {
            let is_type = is_type || is_one_type;
            if let Some(source) = &source {
                let mut head = self.source_head(is_type, source);
                head.push(&[b"'", &local[..]].concat());
                outline.add_exported(&name, &head);
            } else {
                outline.add_alias(&name, &local);
                if is_type {
                    outline.add_exported(&name, &Head::of(&[b"type"]));
                }
            }
        }
        if source.is_some() {
            self.statement_end(after, end)
        } else {
            after
        }
    }

    /// Adds the expression at `at` as the export `name`. Returns its end.
    fn exported_value(&mut self, name: &[u8], at: usize, end: usize, outline: &mut Outline) -> usize {
        self.is_module = true;
        self.has_export_list = true;
        let mut head = Head::default();
        let close = self.write_expression(at, end, &mut head);
        if close == at + 1 && self.tokens.is_name(at) && outline.has(self.word(at)) {
            outline.add_alias(name, self.word(at));
        } else {
            outline.add_exported(name, &head);
        }
        close
    }

    /// `a as b`, `type c`, ... in the braces at `open`: local name, other name, whether it is only a type.
    fn specifiers(&self, open: usize) -> Vec<(Vec<u8>, Vec<u8>, bool)> {
        let inside = self.inside(open);
        let mut specifiers = Vec::new();
        let mut at = inside.start;
        while at < inside.end {
            let close = self.expression_end(at, inside.end);
            let is_type = self.is(at, b"type") && close > at + 1 && !(self.is(at + 1, b"as") && close == at + 3);
            let name = at + usize::from(is_type);
            let local = self.name_at(name);
            let other = if self.is(name + 1, b"as") && name + 2 < close {
                self.name_at(name + 2)
            } else {
                local.clone()
            };
            specifiers.push((local, other, is_type));
            at = close.max(at) + 1;
        }
        specifiers
    }

    /// The name at `at`, which may be written as a string.
    pub(super) fn name_at(&self, at: usize) -> Vec<u8> {
        match self.tokens.kind(at) {
            Some(Kind::Text) => self.string(at),
            _ => self.word(at).to_owned(),
        }
    }

    fn source_head(&self, is_type: bool, source: &[u8]) -> Head {
        Head::of(&[
            if is_type { b"type" } else { b"value" },
            b"from",
            &[b"\"", source].concat(),
        ])
    }

    /// Adds the names that the import at `at` binds. Returns its end.
    fn import(&self, at: usize, end: usize, is_exported: bool, outline: &mut Outline) -> usize {
        let mut next = at + 1;
        if self.tokens.kind(next) == Some(Kind::Text) {
            // Importers of this file also get the effects of the import.
            outline.add_exported(&[b"import ", &self.string(next)[..]].concat(), &Head::default());
            return self.statement_end(next, end);
        }
        let is_type = self.is(next, b"type") && !matches!(self.word(next + 1), b"," | b"from" | b"=")
            || self.is(next, b"type") && self.is(next + 1, b"from") && self.is(next + 2, b"from");
        next += usize::from(is_type || self.is(next, b"defer") && self.is(next + 1, b"*"));
        if self.is(next + 1, b"=") && self.tokens.is_name(next) {
            // `import a = b.c`, `import a = require('b')`
            let close = self.statement_end(next, end);
            let mut head = Head::default();
            self.write_exact(next + 1..close, &mut head);
            outline.add(self.word(next), is_exported, &head);
            return close;
        }
        // The clause ends at `from`.
        let mut bound: Vec<(Vec<u8>, Vec<u8>, bool)> = Vec::new();
        while next < end && self.tokens.kind(next) != Some(Kind::Text) {
            if self.is(next, b"*") {
                bound.push((b"*".to_vec(), self.word(next + 2).to_owned(), false));
                next += 3;
            } else if self.is_open(next, b"{") {
                bound.extend(self.specifiers(next));
                next = self.after(next);
            } else if self.is(next, b"from") && self.tokens.kind(next + 1) == Some(Kind::Text) || self.is(next, b",") {
                next += 1;
            } else if self.tokens.is_name(next) {
                bound.push((b"default".to_vec(), self.word(next).to_owned(), false));
                next += 1;
            } else {
                return self.statement_end(at, end);
            }
        }
        let source = self.string(next);
        for (imported, name, is_one_type) in bound {
            let mut head = self.source_head(is_type || is_one_type, &source);
            head.push(&[b"'", &imported[..]].concat());
            outline.add_imported(&name, &head);
        }
        self.statement_end(next, end)
    }
}

fn add(declaration: Declaration<'_>, is_exported: bool, is_default: bool, outline: &mut Outline) {
    for (name, head) in declaration.names {
        match (is_default, name) {
            (true, b"") => outline.add_exported(b"default", &head),
            (true, name) => {
                outline.add_local(name, &head);
                outline.add_alias(b"default", name);
            }
            (false, name) => outline.add(name, is_exported || declaration.is_global, &head),
        }
    }
}

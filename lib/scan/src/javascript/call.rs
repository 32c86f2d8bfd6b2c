//! Calls that name a module: `import()`, `require()`, `require.resolve()`, `new URL(..., import.meta.url)`, and AMD's
//! lists. Also `declare module "./a"`.

use super::trivia;
use crate::import_kind::ImportKind;
use crate::javascript::bytes::{CLASS, Class, is_word};
use crate::javascript::literal;
use crate::javascript::literal::{Literal, plain_literal};
use crate::javascript::scanner::Scanner;
use crate::javascript::state::PreviousToken;
use crate::javascript::trivia::{next, word};
use crate::meter;

impl Scanner<'_, '_> {
    /// `import(` or `import.`; the position is after the word.
    pub(super) fn import_call(&mut self, before: PreviousToken) {
        let (at, byte) = next(self.text, self.position);
        if byte == Some(b'(') {
            if let Some((literal, end)) = argument(self.text, at) {
                let is_type = before == PreviousToken::Typeof || (self.dialect.types && self.has_type_member(end));
                self.emit(&literal, if is_type { ImportKind::Type } else { ImportKind::Dynamic });
            } else {
                self.emit_conditional(at, ImportKind::Dynamic);
            }
            return;
        }
        let property = trivia::skip(self.text, at + 1);
        match word(self.text, property) {
            name @ (b"source" | b"defer") => {
                self.emit_call(property + name.len(), ImportKind::Dynamic);
            }
            b"meta" => {
                if let Some(end) = self.property(property + 4, b"resolve") {
                    self.emit_call(end, ImportKind::RequireResolve);
                } else if let Some(end) = self.property(property + 4, b"glob") {
                    self.import_meta_glob(end);
                }
            }
            _ => {}
        }
    }

    /// `import("x").T` is a type; `import("x").then` is not.
    fn has_type_member(&self, end: usize) -> bool {
        let (dot, byte) = next(self.text, end);
        byte == Some(b'.')
            && !matches!(
                word(self.text, trivia::skip(self.text, dot + 1)),
                b"" | b"then" | b"catch" | b"finally"
            )
    }

    /// `require` or `require.resolve`; the position is after the word `require`.
    pub(super) fn require(&mut self) {
        if let Some(end) = self.property(self.position, b"resolve") {
            self.emit_call(end, ImportKind::RequireResolve);
        } else if let Some(end) = self.property(self.position, b"context") {
            self.require_context(end);
        } else {
            self.emit_call(self.position, ImportKind::Require);
            let (at, byte) = next(self.text, self.position);
            if byte == Some(b'(') {
                self.emit_conditional(at, ImportKind::Require);
                self.emit_amd_list(trivia::skip(self.text, at + 1));
            }
        }
    }

    /// AMD's `define(["a"], ...)` or `define("name", ["a"], ...)`; the parenthesis is at `position`.
    pub(super) fn define(&mut self, position: usize) {
        let first = trivia::skip(self.text, position + 1);
        let list = match argument(self.text, position) {
            Some((_, end)) => trivia::skip(self.text, end),
            None => first,
        };
        self.emit_amd_list(list);
    }

    /// Adds the strings of the list at `position`, if there is one.
    fn emit_amd_list(&mut self, position: usize) {
        let mut at = position;
        // The bracket first, then each comma.
        let mut before = b'[';
        while self.text.get(at) == Some(&before) {
            let Some(literal) = plain_literal(self.text, trivia::skip(self.text, at + 1)) else {
                return;
            };
            at = next(self.text, literal.end).0;
            before = b',';
            self.emit_amd(&literal);
        }
    }

    /// Adds a module of a list, without the plugin that loads it (`text!./a.html`).
    fn emit_amd(&mut self, literal: &Literal) {
        if self.findings.is_full() {
            return;
        }
        let Some(text) = self.text.get(literal.content.clone()).and_then(literal::decode) else {
            return;
        };
        let module = text.rsplit('!').next().unwrap_or_default();
        if !matches!(module, "" | "require" | "exports" | "module") {
            self.push(literal.content.start, module.to_owned(), None, ImportKind::Amd);
        }
    }

    /// `new URL`; the position is after the word `new`.
    pub(super) fn new_url(&mut self) {
        let class = trivia::skip(self.text, self.position);
        if word(self.text, class) != b"URL" {
            return;
        }
        let (parenthesis, byte) = next(self.text, class + 3);
        if byte != Some(b'(') {
            return;
        }
        let Some((literal, end)) = argument(self.text, parenthesis) else {
            return;
        };
        // `end` is after the comma.
        let base = trivia::skip(self.text, end);
        let is_own_url = word(self.text, base) == b"import"
            && self
                .property(base + 6, b"meta")
                .and_then(|meta| self.property(meta, b"url"))
                .is_some();
        if is_own_url {
            self.emit(&literal, ImportKind::Url);
        }
    }

    /// Adds the modules of `import(a ? "b" : "c")`, whose parenthesis is at `position`.
    fn emit_conditional(&mut self, position: usize, kind: ImportKind) {
        const MAX_BYTES: usize = 512;
        let text = &self.text[..self.text.len().min(position + MAX_BYTES)];
        if self.rereads > 0 && plain_literal(text, trivia::skip(text, position + 1)).is_none() {
            let end = self.emit_branches(text, position + 1, kind);
            self.rereads = self.rereads.saturating_sub(end.min(text.len()) - position);
        }
    }

    /// Adds the strings of the conditional expression at `position`. Returns the end of the text that was read.
    fn emit_branches(&mut self, text: &[u8], position: usize, kind: ImportKind) -> usize {
        let (mut at, mut depth) = (position, 0_usize);
        loop {
            let (token, byte) = next(text, at);
            at = token + 1;
            match byte {
                Some(b'?') if matches!(text.get(at), Some(b'?' | b'.')) => at += 1,
                Some(b'?') if depth == 0 => {
                    let Some(literal) = plain_literal(text, trivia::skip(text, at)) else {
                        continue;
                    };
                    let (colon, byte) = next(text, literal.end);
                    at = colon + 1;
                    if byte != Some(b':') {
                        return at;
                    }
                    self.emit(&literal, kind);
                    if let Some((last, end)) = argument(text, colon) {
                        self.emit(&last, kind);
                        return end;
                    }
                }
                Some(b'"' | b'\'' | b'`') => match plain_literal(text, token) {
                    Some(literal) => at = literal.end,
                    None => return at,
                },
                Some(b'(' | b'[' | b'{') => depth += 1,
                Some(b')' | b']' | b'}' | b',') if depth == 0 => return at,
                Some(b')' | b']' | b'}') => depth -= 1,
                Some(b';') | None => return at,
                Some(_) => {}
            }
        }
    }

    /// `declare module "./a"`, which adds to that module; the string is at `position`. Any other name declares a new
    /// module.
    #[cold]
    pub(super) fn module_declaration(&mut self, position: usize) {
        let is_declaration = self.text[..position]
            .trim_ascii_end()
            .strip_suffix(b"module")
            .and_then(|before| before.trim_ascii_end().strip_suffix(b"declare"))
            .is_some_and(|before| before.last().is_none_or(|byte| *byte != b'.' && !is_word(*byte)));
        if is_declaration
            && let Some(literal) = literal::quoted_string(self.text, position)
            && self.text[literal.content.clone()].starts_with(b".")
        {
            self.emit(&literal, ImportKind::Type);
        }
    }

    /// The position after `.name` at `position`, if that is there.
    pub(super) fn property(&self, position: usize, name: &[u8]) -> Option<usize> {
        let (dot, byte) = next(self.text, position);
        if byte != Some(b'.') {
            return None;
        }
        let at = trivia::skip(self.text, dot + 1);
        (word(self.text, at) == name).then(|| at + name.len())
    }

    /// Adds the call whose function ended before `position`, if it has a literal argument.
    pub(super) fn emit_call(&mut self, position: usize, kind: ImportKind) {
        if let Some(parenthesis) = self.parenthesis(position)
            && let Some((literal, _)) = argument(self.text, parenthesis)
        {
            self.emit(&literal, kind);
        }
    }

    /// The parenthesis of the call whose function ended before `position`. Type arguments may precede it.
    pub(super) fn parenthesis(&mut self, position: usize) -> Option<usize> {
        let (mut at, mut byte) = next(self.text, position);
        if byte == Some(b'<') && self.dialect.types {
            let end = self.type_arguments_end(at)?;
            (at, byte) = next(self.text, end);
            // Text that looks like a comment here may be read differently later.
            self.rereads = self.rereads.saturating_sub(at - end);
        }
        (byte == Some(b'(')).then_some(at)
    }

    /// The position after the type arguments whose `<` is at `position`.
    pub(super) fn type_arguments_end(&mut self, position: usize) -> Option<usize> {
        if self.rereads == 0 {
            return None;
        }
        let mut depth = 0_usize;
        let mut at = position;
        let end = loop {
            let (token, byte) = next(self.text, at);
            at = token + 1;
            match byte {
                Some(b'<') => depth += 1,
                Some(b'>') => {
                    depth -= 1;
                    if depth == 0 {
                        break Some(at);
                    }
                }
                Some(b'=') if self.text.get(at) == Some(&b'>') => at += 1,
                Some(b'"' | b'\'' | b'`') => match plain_literal(self.text, token) {
                    Some(literal) => at = literal.end,
                    None => break None,
                },
                Some(b';') | None => break None,
                Some(_) => {}
            }
        };
        meter::read(at - position);
        self.rereads = self.rereads.saturating_sub(at - position);
        end
    }
}

/// Whether the string at `position` may name the module of a declaration.
#[inline(always)]
pub(super) fn may_declare_module(text: &[u8], position: usize) -> bool {
    position > 0 && (text[position - 1] == b'e' || CLASS[usize::from(text[position - 1])] == Class::Space)
}

/// Whether the name at `position` is a property of the variable `object`, as in `object.name`.
pub(super) fn is_property_of(text: &[u8], position: usize, object: &[u8]) -> bool {
    before_object(text, position, object).is_some_and(|before| before.last() != Some(&b'.'))
}

/// The text before `object` in `object.name`, where the name is at `position`.
pub(super) fn before_object<'t>(text: &'t [u8], position: usize, object: &[u8]) -> Option<&'t [u8]> {
    let before = text[..position].trim_ascii_end().strip_suffix(b".")?;
    let before = before.strip_suffix(b"?").unwrap_or(before);
    let before = before.trim_ascii_end().strip_suffix(object)?;
    before.last().is_none_or(|byte| !is_word(*byte)).then_some(before)
}

/// The literal first argument of the call whose parenthesis is at `position`, and the position after the comma or
/// parenthesis that follows.
pub(super) fn argument(text: &[u8], position: usize) -> Option<(Literal, usize)> {
    let literal = plain_literal(text, trivia::skip(text, position + 1))?;
    let (end, byte) = next(text, literal.end);
    matches!(byte?, b')' | b',').then_some((literal, end + 1))
}

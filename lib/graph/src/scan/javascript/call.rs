//! Calls that name a module: `import()`, `require()`, `require.resolve()`, `new URL(..., import.meta.url)`, `vi.mock()`, and
//! AMD's `define()`.

use super::trivia;
use crate::import_kind::ImportKind;
use crate::scan::javascript::bytes::{CLASS, Class, is_word};
use crate::scan::javascript::literal;
use crate::scan::javascript::literal::{Literal, without_holes};
use crate::scan::javascript::scanner::Scanner;
use crate::scan::javascript::state::Previous;
use crate::scan::javascript::trivia::{next, word};
use crate::scan::meter;

/// Functions of test runners whose argument is a module.
const MOCKS: &[&[u8]] = &[
    b"mock",
    b"unmock",
    b"doMock",
    b"dontMock",
    b"doUnmock",
    b"requireActual",
    b"requireMock",
    b"importActual",
    b"importMock",
    b"setMock",
    b"createMockFromModule",
];

impl Scanner<'_, '_> {
    /// `import(` or `import.`; the position is after the word.
    pub(super) fn import_call(&mut self, before: Previous) {
        let (at, byte) = next(self.text, self.position);
        if byte == Some(b'(') {
            if let Some((literal, end)) = argument(self.text, at) {
                let is_type = before == Previous::Typeof || (self.dialect.types && self.has_type_member(end));
                self.emit(&literal, if is_type { ImportKind::Type } else { ImportKind::Dynamic });
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
        } else {
            self.emit_call(self.position, ImportKind::Require);
            let (at, byte) = next(self.text, self.position);
            if byte == Some(b'(') {
                self.amd_modules(trivia::skip(self.text, at + 1));
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
        self.amd_modules(list);
    }

    /// The strings of the list at `position`, if there is one.
    fn amd_modules(&mut self, position: usize) {
        let mut at = position;
        // The bracket first, then each comma.
        let mut before = b'[';
        while self.text.get(at) == Some(&before) {
            let Some(literal) = without_holes(self.text, trivia::skip(self.text, at + 1)) else {
                return;
            };
            at = next(self.text, literal.end).0;
            before = b',';
            self.emit_amd(&literal);
        }
    }

    /// Adds a module of a list, without the plugin that loads it (`text!./a.html`).
    fn emit_amd(&mut self, literal: &Literal) {
        if self.found.is_full() {
            return;
        }
        let Some(text) = self.text.get(literal.content.clone()).and_then(literal::decode) else {
            return;
        };
        let module = text.rsplit('!').next().unwrap_or_default();
        if !matches!(module, "" | "require" | "exports" | "module") {
            self.emit_text(literal.content.start, module.to_owned(), ImportKind::Amd);
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

    /// A function of `jest`, `vi` or `vitest`; the position is after that word.
    pub(super) fn mock(&mut self) {
        let (dot, byte) = next(self.text, self.position);
        if byte != Some(b'.') {
            return;
        }
        let function = trivia::skip(self.text, dot + 1);
        let name = word(self.text, function);
        if MOCKS.contains(&name) {
            self.emit_call(function + name.len(), ImportKind::Mock);
        }
    }

    /// The position after `.name` at `position`, if that is there.
    fn property(&self, position: usize, name: &[u8]) -> Option<usize> {
        let (dot, byte) = next(self.text, position);
        if byte != Some(b'.') {
            return None;
        }
        let at = trivia::skip(self.text, dot + 1);
        (word(self.text, at) == name).then(|| at + name.len())
    }

    /// Adds the call whose function ended before `position`, if it has a literal argument.
    fn emit_call(&mut self, position: usize, kind: ImportKind) {
        let (mut at, mut byte) = next(self.text, position);
        if byte == Some(b'<') && self.dialect.types {
            let Some(end) = self.type_arguments_end(at) else { return };
            (at, byte) = next(self.text, end);
            // Text that looks like a comment here may be read differently later.
            self.rereads = self.rereads.saturating_sub(at - end);
        }
        if byte == Some(b'(')
            && let Some((literal, _)) = argument(self.text, at)
        {
            self.emit(&literal, kind);
        }
    }

    /// The position after the type arguments whose `<` is at `position`.
    pub(super) fn type_arguments_end(&mut self, position: usize) -> Option<usize> {
        if self.rereads == 0 {
            return None;
        }
        let mut depth = 0_usize;
        let mut at = position;
        let end = loop {
            let (behind, byte) = next(self.text, at);
            at = behind + 1;
            match byte {
                Some(b'<') => depth += 1,
                Some(b'>') => {
                    depth -= 1;
                    if depth == 0 {
                        break Some(at);
                    }
                }
                Some(b'=') if self.text.get(at) == Some(&b'>') => at += 1,
                Some(b'"' | b'\'' | b'`') => match without_holes(self.text, behind) {
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

/// Whether the parenthesis at `position` belongs to a call of `define`.
#[inline(always)]
pub(super) fn is_define(text: &[u8], position: usize) -> bool {
    position > 0
        && (text[position - 1] == b'e' || CLASS[usize::from(text[position - 1])] == Class::Space)
        && ends_in_define(&text[..position])
}

#[cold]
fn ends_in_define(text: &[u8]) -> bool {
    let is_code = |byte: &u8| CLASS[usize::from(*byte)] != Class::Space;
    let end = text.iter().rposition(is_code).map_or(0, |last| last + 1);
    meter::read(text.len() - end);
    text[..end]
        .strip_suffix(b"define")
        .is_some_and(|before| before.last().is_none_or(|byte| *byte != b'.' && !is_word(*byte)))
}

/// The literal first argument of the call whose parenthesis is at `position`, and the position after the comma or
/// parenthesis that follows.
fn argument(text: &[u8], position: usize) -> Option<(Literal, usize)> {
    let literal = without_holes(text, trivia::skip(text, position + 1))?;
    let (end, byte) = next(text, literal.end);
    matches!(byte?, b')' | b',').then_some((literal, end + 1))
}

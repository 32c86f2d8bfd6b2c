//! Calls whose names are too rare for the scanner to stop at, so that it looks for them before each parenthesis: AMD's
//! `define`, `createRequire` and its result, and `mock.module` of `node:test` and Bun.

use super::trivia;
use crate::import_kind::ImportKind;
use crate::javascript::bytes::{CLASS, Class, is_word};
use crate::javascript::call::{argument, before_object, is_property_of};
use crate::javascript::scanner::Scanner;
use crate::javascript::trivia::{next, word};
use crate::meter;

/// Longest name that is read, in bytes.
const MAX_NAME_BYTES: usize = 64;

impl Scanner<'_, '_> {
    /// Whether the parenthesis at `position` may belong to one of the calls. All of their names end in `e`.
    #[inline(always)]
    pub(super) fn may_be_named_call(&self, position: usize) -> bool {
        position > 0 && {
            let before = self.text[position - 1];
            before == b'e' || CLASS[usize::from(before)] == Class::Space || self.require_variable.is_some()
        }
    }

    /// Adds the modules of the call whose parenthesis is at `position`, if it is one of them.
    #[cold]
    pub(super) fn named_call(&mut self, position: usize) {
        let text = self.text;
        let is_code = |byte: &u8| CLASS[usize::from(*byte)] != Class::Space;
        let end = text[..position].iter().rposition(is_code).map_or(0, |last| last + 1);
        let start = name_start(text, end);
        meter::read(position - start);
        let is_own = start == 0 || text[start - 1] != b'.';
        match &text[start..end] {
            b"define" if is_own => self.define(position),
            b"createRequire" => self.create_require(start, position),
            b"module" if before_object(text, start, b"mock").is_some() => {
                if let Some((literal, _)) = argument(text, position) {
                    self.emit(&literal, ImportKind::Mock);
                }
            }
            name => {
                let Some(variable) = self.require_variable.clone() else {
                    return;
                };
                let kind = if name == &text[variable.clone()] && is_own {
                    ImportKind::Require
                } else if name == b"resolve" && is_property_of(text, start, &text[variable]) {
                    ImportKind::RequireResolve
                } else {
                    return;
                };
                if let Some((literal, _)) = argument(text, position) {
                    self.emit(&literal, kind);
                }
            }
        }
    }

    /// `createRequire(import.meta.url)`, whose result is called at once, or assigned to a variable. The name is at
    /// `start`, and the parenthesis at `position`.
    fn create_require(&mut self, start: usize, position: usize) {
        let text = self.text;
        let Some(end) = self.own_file(trivia::skip(text, position + 1)) else {
            return;
        };
        let (end, byte) = next(text, end);
        if byte != Some(b')') {
            return;
        }
        if let Some(resolve) = self.property(end + 1, b"resolve") {
            return self.emit_call(resolve, ImportKind::RequireResolve);
        }
        if next(text, end + 1).1 == Some(b'(') {
            return self.emit_call(end + 1, ImportKind::Require);
        }
        // `module.createRequire` too.
        let before = text[..start].trim_ascii_end();
        let before = match before.strip_suffix(b".") {
            Some(object) => &object[..name_start(object, object.len())],
            None => before,
        };
        if let Some(assigned) = before.trim_ascii_end().strip_suffix(b"=") {
            let end = assigned.trim_ascii_end().len();
            let variable = name_start(text, end)..end;
            if !variable.is_empty() && &text[variable.clone()] != b"require" {
                self.require_variable = Some(variable);
                // Its calls contain none of the words that other imports have.
                self.last_word = text.len();
            }
        }
    }

    /// The position after `import.meta.url`, `import.meta.filename` or `__filename`.
    fn own_file(&self, position: usize) -> Option<usize> {
        match word(self.text, position) {
            b"__filename" => Some(position + 10),
            b"import" => {
                let meta = self.property(position + 6, b"meta")?;
                self.property(meta, b"url").or_else(|| self.property(meta, b"filename"))
            }
            _ => None,
        }
    }
}

/// The start of the name that ends at `end`.
fn name_start(text: &[u8], end: usize) -> usize {
    let name = text[..end]
        .iter()
        .rev()
        .take(MAX_NAME_BYTES)
        .take_while(|byte| is_word(**byte));
    end - name.count()
}

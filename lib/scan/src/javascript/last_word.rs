//! The words that every import contains, and the text that must follow each: prose has the same words, but rarely such
//! text.
//!
//! A predicate may accept text that is not an import, but must not reject an import. Each reads at most white space, a
//! name and white space, so that the time stays linear.

use std::sync::LazyLock;

use crate::javascript::bytes::{CLASS, Class, is_word};
use crate::javascript::trivia::word;
use crate::last_word::Words;
use crate::meter;

/// The names of test runners' functions that take a module contain `mock`, `Mock`, `import` or `require`.
pub(super) static WORDS: LazyLock<Words> = LazyLock::new(|| {
    Words::new(&[
        ("import", may_import),
        ("from", precedes_string),
        ("require", may_require),
        ("mock", may_mock),
        ("Mock", may_mock),
        ("define", may_define),
        ("module", precedes_string),
        ("createRequire", may_call),
    ])
});

/// Distance from the start of `define`, `createRequire`, `mock.module` or `module` to the parenthesis or string after
/// it, where the scanner looks back at the word; 0 if `text` begins with another word.
pub(super) fn argument_offset(text: &[u8]) -> usize {
    let names: [&[u8]; 3] = [b"define", b"createRequire", b"module"];
    let rest = names.into_iter().find_map(|name| text.strip_prefix(name));
    let rest = rest.or_else(|| {
        let property = skip_space(text.strip_prefix(b"mock")?).strip_prefix(b".")?;
        skip_space(property).strip_prefix(b"module")
    });
    rest.map_or(0, |rest| text.len() - skip_space(rest).len())
}

/// `define("a"`, `define(["a"`. Bundles have `define([], ...)` and `define(factory)` at their ends.
fn may_define(rest: &[u8]) -> bool {
    let Some(arguments) = skip_space(rest).strip_prefix(b"(") else {
        return false;
    };
    let first = skip_space(arguments);
    let first = first.strip_prefix(b"[").map_or(first, skip_space);
    first
        .first()
        .is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`') || is_unclear(*byte))
}

/// The text after white space. A possible comment, wide space or escape ends the white space.
fn skip_space(text: &[u8]) -> &[u8] {
    let space = text
        .iter()
        .take_while(|byte| CLASS[usize::from(**byte)] == Class::Space);
    let space = space.count();
    meter::read(space);
    &text[space..]
}

/// Whether only the scanner itself can tell the meaning of a byte.
fn is_unclear(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\' | 0x80..)
}

/// `import "x"`, `import {`, `import * as`, `import(`, `import.meta`, `import a from`, `import a, {`, `import a =`,
/// `import type`, and `importActual`.
fn may_import(rest: &[u8]) -> bool {
    let Some(first) = rest.first() else { return false };
    if is_word(*first) {
        return is_unclear(*first) || is_function_of_runner(rest);
    }
    let rest = skip_space(rest);
    match rest.first() {
        None => false,
        Some(b'"' | b'\'' | b'{' | b'*' | b'(' | b'.') => true,
        Some(byte) if is_unclear(*byte) => true,
        Some(_) => {
            let name = word(rest, 0);
            if name.is_empty() {
                return false;
            }
            let following = skip_space(&rest[name.len()..]);
            matches!(name, b"type" | b"typeof" | b"source" | b"defer")
                || !name.is_ascii()
                || following.starts_with(b"from")
                || following
                    .first()
                    .is_some_and(|byte| matches!(byte, b',' | b'=') || is_unclear(*byte))
        }
    }
}

/// `requireActual`, `importMock`.
fn is_function_of_runner(rest: &[u8]) -> bool {
    rest.starts_with(b"Actual") || rest.starts_with(b"Mock")
}

/// `from "x"`.
fn precedes_string(rest: &[u8]) -> bool {
    let next = skip_space(rest).first();
    next.is_some_and(|byte| matches!(byte, b'"' | b'\'') || is_unclear(*byte))
}

/// `require(`, `require.resolve`, `require<T>(`, and `requireActual`.
fn may_require(rest: &[u8]) -> bool {
    is_function_of_runner(rest)
        || skip_space(rest)
            .first()
            .is_some_and(|byte| matches!(byte, b'(' | b'.' | b'<') || is_unclear(*byte))
}

/// `mock(`, `mock<T>(`, `mock.module(`, `MockFromModule(`, and `mockModule(`.
fn may_mock(rest: &[u8]) -> bool {
    let rest = rest.strip_prefix(b"From").unwrap_or(rest);
    let rest = skip_space(rest.strip_prefix(b"Module").unwrap_or(rest));
    match rest.strip_prefix(b".") {
        Some(property) => {
            let property = skip_space(property);
            property.starts_with(b"module") || property.first().is_some_and(|byte| is_unclear(*byte))
        }
        None => may_call(rest),
    }
}

/// `(`, `<`.
fn may_call(rest: &[u8]) -> bool {
    skip_space(rest)
        .first()
        .is_some_and(|byte| matches!(byte, b'(' | b'<') || is_unclear(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_distinguished_from_prose() {
        for (text, is_import) in [
            ("import 'a'", true),
            ("import\n{a} from 'b'", true),
            ("import/**/a from 'b'", true),
            ("import a /**/ from 'b'", true),
            ("import a, * as b from 'c'", true),
            ("import a = require('b')", true),
            ("import type a from 'b'", true),
            ("import \u{a0}a from 'b'", true),
            ("import é from 'b'", true),
            ("import('a')", true),
            ("import.meta.url", true),
            ("vi.importActual('a')", true),
            ("export * from 'a'", true),
            ("require ('a')", true),
            ("require.resolve('a')", true),
            ("jest.requireActual<A>('a')", true),
            ("vi.unmock('a')", true),
            ("jest.createMockFromModule('a')", true),
            ("jest.unstable_mockModule('a')", true),
            ("jest.deepUnmock('a')", true),
            ("mock.module('a')", true),
            ("mock\n.module ('a')", true),
            ("declare module 'a' {", true),
            ("createRequire(a)('b')", true),
            ("mock.fn()", false),
            ("// the module a", false),
            ("define(['a'])", true),
            ("define('a', ['b'])", true),
            ("define([ /**/ 'a'])", true),
            ("define([], a)", false),
            ("define(a)", false),
            ("Object.defineProperty(a)", false),
            ("// define it", false),
            ("", false),
            ("import", false),
            ("// imports the module", false),
            ("// import the module", false),
            ("// import: a", false),
            ("important('a')", false),
            ("Array.from('a')", false),
            ("// from the module", false),
            ("// require a module", false),
            ("required('a')", false),
            ("// mock it", false),
        ] {
            assert_eq!(WORDS.last_in(text.as_bytes()).is_some(), is_import, "{text}");
        }
    }
}

//! The words that every import contains, and the text that must follow each: prose has the same words, but rarely such text.
//!
//! A predicate may accept text that is no import, but never reject one that is. Each reads at most white space, a name and
//! white space, so that the time stays linear.

use std::sync::LazyLock;

use crate::javascript::bytes::{CLASS, Class, is_word};
use crate::javascript::trivia::word;
use crate::last_word::Words;
use crate::meter;

/// The test runners' functions that take a module have `mock`, `Mock`, `import` or `require` in their names, or are `mock.module`.
pub(super) static WORDS: LazyLock<Words> = LazyLock::new(|| {
    Words::new(&[
        ("import", may_import),
        ("from", before_string),
        ("require", may_require),
        ("mock", may_mock),
        ("Mock", may_mock),
        ("define", may_define),
        ("module", before_string),
        ("createRequire", may_call),
    ])
});

/// Distance from the start of `define`, `createRequire`, `mock.module` or `module` to the parenthesis or string after it, where the
/// scanner looks back at the word; 0 where `text` begins with another word.
pub(super) fn to_argument(text: &[u8]) -> usize {
    let names: [&[u8]; 3] = [b"define", b"createRequire", b"module"];
    let behind = names.into_iter().find_map(|name| text.strip_prefix(name));
    let behind = behind.or_else(|| {
        let property = behind_space(text.strip_prefix(b"mock")?).strip_prefix(b".")?;
        behind_space(property).strip_prefix(b"module")
    });
    behind.map_or(0, |behind| text.len() - behind_space(behind).len())
}

/// `define("a"`, `define(["a"`. Bundles have `define([], ...)` and `define(factory)` at their ends.
fn may_define(behind: &[u8]) -> bool {
    let Some(arguments) = behind_space(behind).strip_prefix(b"(") else {
        return false;
    };
    let first = behind_space(arguments);
    let first = first.strip_prefix(b"[").map_or(first, behind_space);
    first
        .first()
        .is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'`') || is_unclear(*byte))
}

/// The text after white space. A possible comment, wide space or escape ends the white space.
fn behind_space(text: &[u8]) -> &[u8] {
    let space = text
        .iter()
        .take_while(|byte| CLASS[usize::from(**byte)] == Class::Space);
    let space = space.count();
    meter::read(space);
    &text[space..]
}

/// Whether only the scanner itself knows the meaning of a byte.
fn is_unclear(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\' | 0x80..)
}

/// `import "x"`, `import {`, `import * as`, `import(`, `import.meta`, `import a from`, `import a, {`, `import a =`,
/// `import type`, and `importActual`.
fn may_import(behind: &[u8]) -> bool {
    let Some(first) = behind.first() else { return false };
    if is_word(*first) {
        return is_unclear(*first) || is_function_of_runner(behind);
    }
    let rest = behind_space(behind);
    match rest.first() {
        None => false,
        Some(b'"' | b'\'' | b'{' | b'*' | b'(' | b'.') => true,
        Some(byte) if is_unclear(*byte) => true,
        Some(_) => {
            let name = word(rest, 0);
            if name.is_empty() {
                return false;
            }
            let following = behind_space(&rest[name.len()..]);
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
fn is_function_of_runner(behind: &[u8]) -> bool {
    behind.starts_with(b"Actual") || behind.starts_with(b"Mock")
}

/// `from "x"`.
fn before_string(behind: &[u8]) -> bool {
    let next = behind_space(behind).first();
    next.is_some_and(|byte| matches!(byte, b'"' | b'\'') || is_unclear(*byte))
}

/// `require(`, `require.resolve`, `require<T>(`, and `requireActual`.
fn may_require(behind: &[u8]) -> bool {
    is_function_of_runner(behind)
        || behind_space(behind)
            .first()
            .is_some_and(|byte| matches!(byte, b'(' | b'.' | b'<') || is_unclear(*byte))
}

/// `mock(`, `mock<T>(`, `mock.module(`, `MockFromModule(`, and `mockModule(`.
fn may_mock(behind: &[u8]) -> bool {
    let rest = behind.strip_prefix(b"From").unwrap_or(behind);
    let rest = behind_space(rest.strip_prefix(b"Module").unwrap_or(rest));
    match rest.strip_prefix(b".") {
        Some(property) => {
            let property = behind_space(property);
            property.starts_with(b"module") || property.first().is_some_and(|byte| is_unclear(*byte))
        }
        None => may_call(rest),
    }
}

/// `(`, `<`.
fn may_call(behind: &[u8]) -> bool {
    behind_space(behind)
        .first()
        .is_some_and(|byte| matches!(byte, b'(' | b'<') || is_unclear(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_distinguished_from_prose() {
        for (text, is_meant) in [
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
            assert_eq!(WORDS.last_in(text.as_bytes()).is_some(), is_meant, "{text}");
        }
    }
}

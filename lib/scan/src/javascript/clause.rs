//! Clauses: the text between `import` or `export` and the module that it names.

use super::trivia;
use crate::javascript::literal::{Literal, quoted_string};
use crate::javascript::trivia::{next, word};

/// A statement with a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) source: Literal,
    /// Whether only types are imported: `import type`, `import typeof`, or every name in the braces is marked so.
    pub(super) types_only: bool,
    /// Whether it is an `import a = require("x")`.
    pub(super) is_require: bool,
}

/// Reads an import statement from after the word `import`: `"x"`, `a from "x"`, `type { A } from "x"`,
/// `a = require("x")`. `None` for anything else, such as `import x = A.B`, `import(...)` or a method with that name.
pub(super) fn import(text: &[u8], position: usize) -> Option<Clause> {
    let (mut at, byte) = next(text, position);
    match byte? {
        b'"' | b'\'' => {
            return Some(Clause {
                source: quoted_string(text, at)?,
                types_only: false,
                is_require: false,
            });
        }
        b'{' | b'*' => return bindings(text, at, false),
        _ => {}
    }
    let mut name = word(text, at);
    let mut types_only = false;
    if matches!(name, b"type" | b"typeof" | b"source" | b"defer") {
        // A modifier only if a name, a namespace or braces follow: `import type from "x"` imports the default export.
        let (after, byte) = next(text, at + name.len());
        let following = word(text, after);
        let is_modifier = match following {
            b"" => matches!(byte?, b'{' | b'*'),
            b"from" => matches!(next(text, after + 4).1?, b'f' | b',' | b'='),
            _ => true,
        };
        if is_modifier {
            types_only = name.starts_with(b"type");
            (at, name) = (after, following);
        }
    }
    if name.is_empty() {
        return bindings(text, at, types_only);
    }
    let (after, byte) = next(text, at + name.len());
    match byte? {
        b',' => {
            // The default export is a value, even if the names in braces are types.
            let clause = bindings(text, trivia::skip(text, after + 1), types_only)?;
            Some(Clause { types_only, ..clause })
        }
        b'=' => require(text, after + 1, types_only),
        b'f' => from(text, after, types_only),
        _ => None,
    }
}

/// Reads `* from "x"`, `* as n from "x"`, `{ a } from "x"`, or one of them after `type`, from after the word `export`.
pub(super) fn export(text: &[u8], position: usize) -> Option<Clause> {
    let (mut at, byte) = next(text, position);
    let mut types_only = false;
    if byte? == b't' && word(text, at) == b"type" {
        at = trivia::skip(text, at + 4);
        types_only = true;
    }
    match text.get(at)? {
        b'{' => from(text, trivia::skip(text, braces_end(text, at)?.0), types_only),
        b'*' => {
            let after = trivia::skip(text, at + 1);
            match word(text, after) {
                b"as" => from(
                    text,
                    trivia::skip(text, name_end(text, trivia::skip(text, after + 2))?),
                    types_only,
                ),
                _ => from(text, after, types_only),
            }
        }
        _ => None,
    }
}

/// Reads `* as n from "x"` or `{ a } from "x"` at `position`.
fn bindings(text: &[u8], position: usize, types_only: bool) -> Option<Clause> {
    match text.get(position)? {
        b'{' => {
            let (end, all_types) = braces_end(text, position)?;
            from(text, trivia::skip(text, end), types_only || all_types)
        }
        b'*' => {
            let after = trivia::skip(text, position + 1);
            if word(text, after) != b"as" {
                return None;
            }
            let name = trivia::skip(text, after + 2);
            from(text, trivia::skip(text, name_end(text, name)?), types_only)
        }
        _ => None,
    }
}

/// Reads `from "x"` at `position`.
fn from(text: &[u8], position: usize, types_only: bool) -> Option<Clause> {
    if word(text, position) != b"from" {
        return None;
    }
    let source = quoted_string(text, trivia::skip(text, position + 4))?;
    Some(Clause {
        source,
        types_only,
        is_require: false,
    })
}

/// Reads `require("x")` at `position`.
fn require(text: &[u8], position: usize, types_only: bool) -> Option<Clause> {
    let at = trivia::skip(text, position);
    if word(text, at) != b"require" {
        return None;
    }
    let (parenthesis, byte) = next(text, at + 7);
    if byte? != b'(' {
        return None;
    }
    let source = quoted_string(text, trivia::skip(text, parenthesis + 1))?;
    (next(text, source.end).1? == b')').then_some(Clause {
        source,
        types_only,
        is_require: true,
    })
}

/// The position after a name, or after a string, which can name an export too.
fn name_end(text: &[u8], position: usize) -> Option<usize> {
    match word(text, position) {
        b"" => quoted_string(text, position).map(|literal| literal.end),
        name => Some(position + name.len()),
    }
}

/// The position after the braces of an import or export, and whether they have names, all of which are marked `type`.
fn braces_end(text: &[u8], position: usize) -> Option<(usize, bool)> {
    let mut at = position + 1;
    let (mut names, mut words, mut marked) = (0_usize, 0_usize, 0_usize);
    let mut begins_with_type = false;
    loop {
        let (after, byte) = next(text, at);
        at = after;
        match byte? {
            end @ (b',' | b'}') => {
                if words > 0 {
                    names += 1;
                    // `type as x` renames an export called `type`; `type a` and `type a as x` mark a type.
                    marked += usize::from(begins_with_type && words % 2 == 0);
                }
                (words, begins_with_type) = (0, false);
                at += 1;
                if end == b'}' {
                    return Some((at, names > 0 && names == marked));
                }
            }
            _ => {
                begins_with_type |= words == 0 && matches!(word(text, at), b"type" | b"typeof");
                at = name_end(text, at)?;
                words += 1;
                if words > 4 {
                    return None;
                }
            }
        }
    }
}

//! The interface of JavaScript and TypeScript: the content of its declaration file, by the text alone.
//!
//! - `lexer`, `element`: tokens
//! - `module`, `statement`: exports, imports and declarations; `common_js`: `exports.NAME = ...`
//! - `class`, `function`, `types`, `value`: the heads of declarations
//! - `reader`: shared by all
//!
//! A declared type is read as written. An initializer is read as far as its type depends on it: without the bodies of
//! functions, and with the values of literals only where they are part of a type.

mod class;
mod common_js;
mod element;
mod function;
mod lexer;
mod module;
mod reader;
mod statement;
mod types;
mod value;

#[cfg(test)]
mod tests;

use std::ops::Range;

use coord_scan::Dialect;
use reader::Reader;

use super::InterfaceUnknown;
use super::outline::Outline;

/// Adds the declarations of the script in `range` to `outline`.
pub(super) fn read(
    text: &[u8],
    range: Range<usize>,
    dialect: Dialect,
    outline: &mut Outline,
) -> Result<(), InterfaceUnknown> {
    let tokens = lexer::tokens(text, range, dialect)?;
    let mut reader = Reader::new(&tokens, dialect);
    reader.module(outline);
    reader.common_js(outline);
    // The names of a script are those of everybody, and a file of declarations exports all that it does not list.
    let is_script = !reader.is_module && !outline.has_exports();
    if is_script || dialect.types && !reader.has_code && !reader.has_list {
        outline.export_all();
    }
    Ok(())
}

/// Adds a component's script, whose declarations its markup uses: calls of macros, such as `defineProps()`, are exports.
pub(super) fn read_component(
    text: &[u8],
    range: Range<usize>,
    dialect: Dialect,
    outline: &mut Outline,
) -> Result<(), InterfaceUnknown> {
    let tokens = lexer::tokens(text, range, dialect)?;
    let mut reader = Reader::new(&tokens, dialect);
    reader.module(outline);
    reader.macros(outline);
    Ok(())
}

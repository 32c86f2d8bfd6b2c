//! The interface of JavaScript and TypeScript: the content of its declaration file, derived from the text alone.
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

/// Adds the declarations of `text` to `outline`.
pub(super) fn read(text: &[u8], dialect: Dialect, outline: &mut Outline) -> Result<(), InterfaceUnknown> {
    let tokens = lexer::tokens(text, 0..text.len(), dialect)?;
    let mut reader = Reader::new(&tokens, dialect);
    reader.module(outline);
    reader.common_js(outline);
    // All names of a script are global, and a file of declarations without an export list exports all of them.
    let is_script = !reader.is_module && !outline.has_exports();
    if is_script || dialect.types && !reader.has_code && !reader.has_export_list {
        outline.export_all();
    }
    Ok(())
}

/// Adds the script in `range` of a component. Only its markup uses the declarations; calls of macros, such as
/// `defineProps()`, are exports.
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

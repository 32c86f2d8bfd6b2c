//! The interface of Rust: items that are `pub` in any degree, public fields and methods, traits, and the impls of types.
//!
//! Code that macros write is not known: a call of a macro among items counts with all its tokens.

mod items;
mod lexer;

#[cfg(test)]
mod tests;

use super::InterfaceUnknown;
use super::outline::Outline;

/// Adds the items of `text` to `outline`.
pub(super) fn read(text: &[u8], outline: &mut Outline) -> Result<(), InterfaceUnknown> {
    let tokens = lexer::tokens(text)?;
    items::Reader::new(&tokens).read(outline);
    Ok(())
}

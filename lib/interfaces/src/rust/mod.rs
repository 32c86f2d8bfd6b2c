//! The interface of Rust: items with any visibility, such as `pub(crate)`, public fields and methods, traits, and the
//! impls of types.
//!
//! The code that a macro generates is unknown, so all tokens of a macro call among items count.

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

//! Modules and paths of Rust, read without building a syntax tree.
//!
//! Found are `mod name;`, the leaves of every `use`, `extern crate`, files that `include!` and its kin take in, and paths
//! of two names and more wherever they stand: in expressions, types, attributes and the arguments of macros, whose text
//! is mostly items or expressions. Left alone is text that is code of another place: the rules of `macro_rules!`, and
//! what `quote!` and its kin put together.
//!
//! A path counts as far as a module can stand in it: a leaf of `use` may be one, the last name of an expression or type
//! never is. Its first name is looked up among what the file binds ([`scope`]), so that what is told is relative to the
//! file's own module, whatever inline module it stands in.

mod code;
mod items;
mod look_up;
mod macro_call;
mod names;
mod path;
mod scanner;
mod scope;
mod trivia;

#[cfg(test)]
mod tests;

use crate::specifier::Specifier;
use scanner::Scanner;

/// Appends the modules and paths of `text` to `found`.
pub(super) fn scan(text: &[u8], found: &mut Vec<Specifier>) {
    Scanner::new(text, found).scan_file();
}

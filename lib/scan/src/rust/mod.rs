//! Modules and paths of Rust, read without building a syntax tree.
//!
//! Findings are `mod name;`, the leaves of every `use`, `extern crate`, and files that `include!` and its kin name. Paths of
//! two and more names are found in expressions, types, attributes and the arguments of macros, which are mostly items or
//! expressions. Code of another place is skipped: the rules of `macro_rules!`, and the text of `quote!` and its kin.
//!
//! A path counts up to the last name that can be a module: a leaf of `use` may be one, the last name of an expression or
//! type never is. Its first name is looked up among the names that the file binds ([`scope`]). So each path is relative to
//! the file's own module, whatever inline module contains it.

mod code;
mod items;
mod look_up;
mod macro_call;
mod names;
mod path;
mod scanner;
mod scope;
pub mod trivia;

#[cfg(test)]
mod tests;

use crate::findings::Findings;
use scanner::Scanner;

/// Appends the modules and paths of `text` to `found`.
pub(super) fn scan(text: &[u8], found: &mut Findings) {
    Scanner::new(text, found).scan_file();
}

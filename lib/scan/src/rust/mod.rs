//! Rust modules and paths, read without building a syntax tree.
//!
//! Findings are `mod name;`, the leaves of every `use`, `extern crate`, and the files that `include!` and similar
//! macros name. The scanner also finds paths of two or more names in expressions, types, attributes and the arguments
//! of macros, which are mostly items or expressions. It skips code that belongs elsewhere: the rules of `macro_rules!`,
//! and the text of `quote!` and similar macros.
//!
//! A path counts up to the last name that can be a module: a leaf of `use` may be one, the last name of an expression
//! or type never is. The scanner looks up the first name among the names that the file binds ([`scope`]). So each path
//! is relative to the file's own module, even if an inline module contains it.

mod code;
mod items;
mod look_up;
mod macro_call;
mod path;
mod scanner;
mod scope;
pub mod trivia;

#[cfg(test)]
mod tests;

use crate::findings::Findings;
use scanner::Scanner;

/// Appends the modules and paths of `text` to `findings`.
pub(super) fn scan(text: &[u8], findings: &mut Findings) {
    Scanner::new(text, findings).scan_file();
}

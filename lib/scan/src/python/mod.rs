//! Imports of Python, read without building a syntax tree.
//!
//! No expression contains the keyword `import`: outside strings and comments, the word is an import statement in any block.
//! `from` is one where names and `import` follow on its logical line, unlike `yield from` and `raise ... from`. So brackets
//! and indentation can be ignored; only strings and comments matter. Every form of import contains the word, `import_module`
//! and `__import__` included: nothing after the last one is read.

pub mod bytes;
mod call;
mod code;
mod frame;
mod scanner;
mod statement;
mod string;
pub mod trivia;

#[cfg(test)]
mod tests;

use crate::findings::Findings;
pub use scanner::Scanner;

/// Appends the imports of `text` to `found`.
pub(super) fn scan(text: &[u8], found: &mut Findings) {
    Scanner::new(text, found).scan_file();
}

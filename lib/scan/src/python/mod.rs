//! Python imports, read without building a syntax tree.
//!
//! No expression contains the keyword `import`: outside strings and comments, the word begins an import statement.
//! `from` does if names and `import` follow on its logical line, unlike `yield from` and `raise ... from`. So the
//! scanner ignores brackets and indentation; only strings and comments matter. Every form of import contains the word,
//! even `import_module` and `__import__`, so the scanner stops at the last one.

pub mod bytes;
mod call;
mod code;
mod scanner;
mod statement;
mod string;
pub mod trivia;

#[cfg(test)]
mod tests;

use crate::findings::Findings;
pub use scanner::Scanner;

/// Appends the imports of `text` to `findings`.
pub(super) fn scan(text: &[u8], findings: &mut Findings) {
    Scanner::new(text, findings).scan_file();
}

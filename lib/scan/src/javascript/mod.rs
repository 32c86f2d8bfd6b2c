//! JavaScript and TypeScript imports, read without building a syntax tree.
//!
//! One pass keeps just enough state to separate code from everything else: the last token, and the open braces. The
//! last token distinguishes a division from a regular expression, and a comparison from an element. The open braces
//! show whether `}` ends a block, or returns to a template or to the children of an element.
//!
//! The pass goes from stop to stop ([`stop_bytes`]): bytes that change that state or depend on it, and the words
//! `import`, `export`, `require`, `new`, `jest`, `vi` and `vitest`. The pass reads text between two stops backward from
//! its end, and only where it matters ([`preceding_token`]). It ends at the last word that can belong to an import.
//!
//! The scan is lexical and takes names literally: a local function called `require` counts as the real one.

pub mod bytes;
mod call;
mod clause;
mod code;
mod glob;
mod html;
mod jsdoc;
mod jsx;
mod keyword;
mod last_word;
pub mod literal;
mod mock;
mod named_call;
mod preceding_token;
mod reference;
pub mod regex;
mod scanner;
mod state;
mod stop_bytes;
pub mod trivia;

#[cfg(test)]
mod tests;

use crate::findings::Findings;
pub use scanner::Dialect;
pub(super) use scanner::Scanner;

/// Appends the imports of `text`, written in `dialect`, to `findings`.
pub(super) fn scan(text: &[u8], dialect: Dialect, findings: &mut Findings) {
    Scanner::new(text, findings).scan_file(dialect);
}

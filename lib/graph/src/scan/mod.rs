//! Text -> specifiers. A scanner sees one file's bytes and nothing else; it never resolves.

mod component;
mod go;
pub(crate) mod javascript;
mod last_word;
#[cfg(test)]
mod linear_time;
mod lines;
pub(crate) mod meter;
#[cfg(test)]
pub(crate) mod properties;
pub(crate) mod python;
pub(crate) mod rust;

pub(crate) use component::{Script, code_fence, for_each_script};
pub(crate) use javascript::Dialect;

use crate::language::Language;
use crate::specifier::Specifier;

/// All imports of a file, in the order written.
///
/// Specifiers that are not valid UTF-8, or are longer than any path, are left out. The time is linear in the length of the
/// text, whatever its content.
pub fn scan(language: Language, text: &[u8]) -> Vec<Specifier> {
    let mut found = Vec::new();
    match language {
        Language::JavaScript => javascript::scan(text, Dialect::JAVASCRIPT, &mut found),
        Language::TypeScript => javascript::scan(text, Dialect::TYPESCRIPT, &mut found),
        Language::TypeScriptJsx => javascript::scan(text, Dialect::TYPESCRIPT_JSX, &mut found),
        Language::Vue | Language::Svelte => component::scan(text, &mut found),
        Language::Astro => component::scan_astro(text, &mut found),
        Language::Python => python::scan(text, &mut found),
        Language::Rust => rust::scan(text, &mut found),
        Language::Go => go::scan(text, &mut found),
    }
    found
}

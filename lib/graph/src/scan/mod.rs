//! Text -> specifiers. A scanner sees one file's bytes and nothing else; it never resolves.

mod component;
pub(crate) mod findings;
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
use findings::Findings;

/// All imports of a file, in the order written.
///
/// Specifiers that are not valid UTF-8, or are longer than any path, are left out. The time is linear in the length of the
/// text, whatever its content. Of a file that has more than a graph keeps of one file, the first are returned.
pub fn scan(language: Language, text: &[u8]) -> Vec<Specifier> {
    scan_within_bounds(language, text).0
}

/// [`scan`], and whether imports are missing because the file has too many.
pub(crate) fn scan_within_bounds(language: Language, text: &[u8]) -> (Vec<Specifier>, bool) {
    let mut found = Findings::default();
    match language {
        Language::JavaScript => javascript::scan(text, Dialect::JAVASCRIPT, &mut found),
        Language::TypeScript => javascript::scan(text, Dialect::TYPESCRIPT, &mut found),
        Language::TypeScriptJsx => javascript::scan(text, Dialect::TYPESCRIPT_JSX, &mut found),
        Language::Vue | Language::Svelte | Language::Astro => component::scan(language, text, &mut found),
        Language::Python => python::scan(text, &mut found),
        Language::Rust => rust::scan(text, &mut found),
        Language::Go => go::scan(text, &mut found),
    }
    let (mut list, is_cut) = found.finish();
    if language == Language::Astro {
        // Its scripts are scanned after its markup.
        list.sort_by_key(|one| one.line);
    }
    (list, is_cut)
}

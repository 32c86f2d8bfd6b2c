//! Text -> specifiers. A scanner sees one file's bytes and nothing else; it never resolves.
//!
//! - `language`, `specifier`, `import_kind`: an import, as written
//! - `content`: the bytes of a file -> its text, with the [`FileState`]
//! - `javascript`, `component`, `python`, `rust`, `go`: a scanner for each family; `findings`: their results, bounded;
//!   `markup`: tags of HTML
//!
//! Some parts of the scanners are public because other crates read the same languages: `coord-interfaces`, and the
//! manifests of `coord-graph`.

mod component;
mod content;
mod file_state;
mod findings;
mod go;
mod import_kind;
pub mod javascript;
mod language;
mod last_word;
#[cfg(test)]
mod linear_time;
mod lines;
mod markup;
pub mod meter;
#[cfg(test)]
mod properties;
pub mod python;
pub mod rust;
mod specifier;

pub use component::{Script, code_fence, for_each_script};
pub use content::text_to_scan;
pub use file_state::FileState;
pub use findings::{BYTES_PER_WEIGHT, Findings, Weighted};
pub use import_kind::{ImportKind, KindSet};
pub use javascript::Dialect;
pub use language::{Family, Language, other_language};
pub use specifier::Specifier;

/// All imports of a file, in the order written.
///
/// Specifiers that are not valid UTF-8, or are longer than any path, are left out. The time is linear in the length of
/// the text, whatever its content. If a file has more imports than a graph keeps of one file, the first are returned.
pub fn scan(language: Language, text: &[u8]) -> Vec<Specifier> {
    scan_within_bounds(language, text).0
}

/// [`scan`], and whether imports are missing because the file has too many.
pub fn scan_within_bounds(language: Language, text: &[u8]) -> (Vec<Specifier>, bool) {
    let mut findings = Findings::default();
    match language {
        Language::JavaScript => javascript::scan(text, Dialect::JAVASCRIPT, &mut findings),
        Language::TypeScript => javascript::scan(text, Dialect::TYPESCRIPT, &mut findings),
        Language::TypeScriptJsx => javascript::scan(text, Dialect::TYPESCRIPT_JSX, &mut findings),
        Language::Vue | Language::Svelte | Language::Astro => component::scan(language, text, &mut findings),
        Language::Python => python::scan(text, &mut findings),
        Language::Rust => rust::scan(text, &mut findings),
        Language::Go => go::scan(text, &mut findings),
    }
    let (mut specifiers, is_cut) = findings.finish();
    if language == Language::Astro {
        // Its scripts are scanned after its markup.
        specifiers.sort_by_key(|specifier| specifier.line);
    }
    (specifiers, is_cut)
}

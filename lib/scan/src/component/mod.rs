//! Single-file components: Vue, Svelte and Astro.
//!
//! Their scripts are code, and so are the expressions of their markup: holes in braces, and directives of Vue. A script that
//! the framework hands to the browser as it is belongs to no module and is not read.
//!
//! - `tag`: tags and their attributes
//! - `vue`, `svelte`, `astro`: the parts of each framework's components

mod astro;
mod svelte;
mod tag;
mod vue;

use std::ops::Range;

use crate::findings::Findings;
use crate::import_kind::ImportKind;
use crate::javascript::{Dialect, Scanner};
use crate::language::Language;

pub use astro::code_fence;
pub(super) use tag::{comment_end, is_void, tag_end, tag_name};

/// A script of a component.
pub enum Script {
    /// The range of its file's name.
    Elsewhere(Range<usize>),
    Inline(Dialect, Range<usize>),
}

/// Passes the scripts of a component to the function, which may scan them.
type Visit<'v> = &'v mut dyn FnMut(&mut Scanner<'_, '_>, Script);

/// Appends the imports of a component in `language` to `found`.
pub(super) fn scan(language: Language, text: &[u8], found: &mut Findings) {
    let mut scanner = Scanner::new(text, found);
    if let Some((start, end)) = code_fence(text).filter(|_| language == Language::Astro) {
        scanner.scan_range(Dialect::TYPESCRIPT_JSX, start, end);
    }
    walk(language, text, &mut scanner, &mut |scanner, script| match script {
        Script::Elsewhere(source) => scanner.emit_attribute(source, ImportKind::Import),
        Script::Inline(dialect, range) => scanner.scan_range(dialect, range.start, range.end),
    });
}

/// Calls `visit` for every script of a component in `language`, apart from the code fence of Astro.
pub fn for_each_script(language: Language, text: &[u8], mut visit: impl FnMut(Script)) {
    // Where a script is can depend on the code around it.
    let mut found = Findings::default();
    walk(language, text, &mut Scanner::new(text, &mut found), &mut |_, script| {
        visit(script);
    });
}

fn walk(language: Language, text: &[u8], scanner: &mut Scanner<'_, '_>, visit: Visit<'_>) {
    match language {
        Language::Astro => astro::walk(text, scanner, visit),
        Language::Svelte => svelte::walk(text, scanner, visit),
        _ => vue::walk(text, scanner, visit),
    }
}

#[cfg(test)]
mod tests;

//! Single-file components: Vue, Svelte and Astro.
//!
//! Their scripts are code, and so are the expressions of their markup: holes in braces, and directives of Vue. The
//! scanner skips a script that the framework passes to the browser unchanged: it belongs to no module.
//!
//! - `script`: a script of a component
//! - `vue`, `svelte`, `astro`: the parts of each framework's components

mod astro;
mod script;
mod svelte;
mod vue;

use crate::findings::Findings;
use crate::import_kind::ImportKind;
use crate::javascript::{Dialect, Scanner};
use crate::language::Language;
use script::Visit;

pub use astro::code_fence;
pub use script::Script;

/// Appends the imports of a component in `language` to `findings`.
pub(super) fn scan(language: Language, text: &[u8], findings: &mut Findings) {
    let mut scanner = Scanner::new(text, findings);
    if let Some((start, end)) = code_fence(text).filter(|_| language == Language::Astro) {
        scanner.scan_range(Dialect::TYPESCRIPT_JSX, start, end);
    }
    walk(language, text, &mut scanner, &mut |scanner, script| match script {
        Script::External(source) => scanner.emit_attribute(source, ImportKind::Import),
        Script::Inline(dialect, range) => scanner.scan_range(dialect, range.start, range.end),
    });
}

/// Calls `visit` for every script of a component in `language`, apart from the code fence of Astro.
pub fn for_each_script(language: Language, text: &[u8], mut visit: impl FnMut(Script)) {
    // The scripts can only be found by scanning the code around them.
    let mut findings = Findings::default();
    walk(
        language,
        text,
        &mut Scanner::new(text, &mut findings),
        &mut |_, script| {
            visit(script);
        },
    );
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

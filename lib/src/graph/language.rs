//! Which language a file is in, by its name.
//!
//! Adding a language is one scanner in [`super::scan`], one resolver in [`super::resolve`] and one row here.

/// A language whose imports are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// JavaScript, with JSX and Flow's annotations in any of them: `.js`, `.jsx`, `.mjs`, `.cjs`.
    JavaScript,
    /// TypeScript without JSX, declarations included: `.ts`, `.mts`, `.cts`.
    TypeScript,
    /// TypeScript with JSX, where `<T>` begins an element and not a type assertion: `.tsx`.
    TypeScriptJsx,
    /// Vue single-file components: `.vue`.
    Vue,
    /// Svelte components: `.svelte`.
    Svelte,
    /// Astro components: `.astro`.
    Astro,
    /// Python and its stubs: `.py`, `.pyi`.
    Python,
}

/// Every file extension and its language: the one table to extend.
const EXTENSIONS: &[(&str, Language)] = &[
    ("js", Language::JavaScript),
    ("jsx", Language::JavaScript),
    ("mjs", Language::JavaScript),
    ("cjs", Language::JavaScript),
    ("ts", Language::TypeScript),
    ("mts", Language::TypeScript),
    ("cts", Language::TypeScript),
    ("tsx", Language::TypeScriptJsx),
    ("vue", Language::Vue),
    ("svelte", Language::Svelte),
    ("astro", Language::Astro),
    ("py", Language::Python),
    ("pyi", Language::Python),
];

impl Language {
    /// The language of the file at `path`, or `None` where its imports are not known.
    pub fn of_path(path: &str) -> Option<Self> {
        let dot = memchr::memrchr2(b'.', b'/', path.as_bytes()).filter(|at| path.as_bytes()[*at] == b'.')?;
        let extension = &path[dot + 1..];
        EXTENSIONS
            .iter()
            .find(|(known, _)| *known == extension)
            .map(|(_, language)| *language)
    }

    /// Lower-case name, as the wire has it.
    pub fn name(self) -> &'static str {
        match self {
            Language::JavaScript => "javascript",
            Language::TypeScript | Language::TypeScriptJsx => "typescript",
            Language::Vue => "vue",
            Language::Svelte => "svelte",
            Language::Astro => "astro",
            Language::Python => "python",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_extension_decides() {
        for (path, language) in [
            ("a.js", Some(Language::JavaScript)),
            ("a/b.test.tsx", Some(Language::TypeScriptJsx)),
            ("types/a.d.ts", Some(Language::TypeScript)),
            ("a.d.mts", Some(Language::TypeScript)),
            ("App.vue", Some(Language::Vue)),
            ("src/a.pyi", Some(Language::Python)),
            ("Makefile", None),
            ("a.js/README", None),
            (".js", Some(Language::JavaScript)),
            ("a.JS", None),
            ("", None),
        ] {
            assert_eq!(Language::of_path(path), language, "{path:?}");
        }
    }
}

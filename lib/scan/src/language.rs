//! Languages, detected from file names.
//!
//! A new language takes one row and its family here, a scanner beside it and a resolver in `coord-graph`:
//! `docs/internals/graph.md` has the steps.

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
    /// Rust: `.rs`.
    Rust,
    /// Go: `.go`.
    Go,
}

/// Groups of languages whose files import each other, with a resolver for each group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    JavaScript,
    Python,
    Rust,
    Go,
}

/// A language, its lower-case name, as on the wire, and the parts of file names after their last dots.
type Row = (Language, &'static str, &'static [&'static str]);

/// Every language, in the order of [`Language`].
static ROWS: [Row; 9] = [
    (Language::JavaScript, "javascript", &["js", "jsx", "mjs", "cjs"]),
    (Language::TypeScript, "typescript", &["ts", "mts", "cts"]),
    (Language::TypeScriptJsx, "typescript", &["tsx"]),
    (Language::Vue, "vue", &["vue"]),
    (Language::Svelte, "svelte", &["svelte"]),
    (Language::Astro, "astro", &["astro"]),
    (Language::Python, "python", &["py", "pyi"]),
    (Language::Rust, "rust", &["rs"]),
    (Language::Go, "go", &["go"]),
];

impl Language {
    /// Every language, in order.
    pub fn all() -> impl Iterator<Item = Language> {
        ROWS.iter().map(|(language, ..)| *language)
    }

    /// The language of the file at `path`, or `None` where Coord does not know its imports.
    pub fn of_path(path: &str) -> Option<Self> {
        let dot = memchr::memrchr2(b'.', b'/', path.as_bytes()).filter(|at| path.as_bytes()[*at] == b'.')?;
        let extension = &path[dot + 1..];
        let mut rows = ROWS.iter();
        let (language, ..) = rows.find(|(.., extensions)| extensions.contains(&extension))?;
        Some(*language)
    }

    /// Lower-case name, as on the wire.
    pub fn name(self) -> &'static str {
        let (_, name, _) = ROWS[self as usize];
        name
    }

    /// The group of languages to which it belongs.
    pub fn family(self) -> Family {
        match self {
            Language::JavaScript | Language::TypeScript | Language::TypeScriptJsx => Family::JavaScript,
            Language::Vue | Language::Svelte | Language::Astro => Family::JavaScript,
            Language::Python => Family::Python,
            Language::Rust => Family::Rust,
            Language::Go => Family::Go,
        }
    }
}

/// Languages whose imports Coord does not know, by the extensions of their files.
const UNSUPPORTED: [(&str, &[&str]); 24] = [
    ("c", &["c", "h"]),
    ("c++", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"]),
    ("c#", &["cs"]),
    ("clojure", &["clj", "cljs", "cljc"]),
    ("crystal", &["cr"]),
    ("dart", &["dart"]),
    ("elixir", &["ex", "exs"]),
    ("elm", &["elm"]),
    ("erlang", &["erl", "hrl"]),
    ("f#", &["fs", "fsx"]),
    ("groovy", &["groovy"]),
    ("haskell", &["hs"]),
    ("java", &["java"]),
    ("julia", &["jl"]),
    ("kotlin", &["kt", "kts"]),
    ("lua", &["lua"]),
    ("nim", &["nim"]),
    ("objective-c", &["m", "mm"]),
    ("ocaml", &["ml", "mli"]),
    ("perl", &["pl", "pm"]),
    ("php", &["php"]),
    ("ruby", &["rb"]),
    ("scala", &["scala"]),
    ("swift", &["swift"]),
];

/// The language of the file at `path`, where it is one whose imports Coord does not know.
pub fn other_language(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let row = UNSUPPORTED
        .iter()
        .find(|(_, extensions)| extensions.contains(&extension))?;
    Some(row.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_at_the_index_of_its_language() {
        for (index, (language, ..)) in ROWS.iter().enumerate() {
            assert_eq!(*language as usize, index);
        }
    }

    #[test]
    fn a_language_is_known_or_another_and_never_both() {
        assert_eq!(other_language("src/Main.java"), Some("java"));
        assert_eq!(other_language("README.md"), None);
        for (_, extensions) in UNSUPPORTED {
            for extension in extensions {
                assert_eq!(Language::of_path(&format!("a.{extension}")), None, "{extension}");
            }
        }
    }

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

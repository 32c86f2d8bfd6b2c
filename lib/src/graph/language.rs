//! Which language a file is in, by its name.
//!
//! Adding a language is one scanner in [`super::scan`], one resolver in [`super::resolve`] and one row here.

/// A language whose imports are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// JavaScript, JSX included: `.js`, `.jsx`, `.mjs`, `.cjs`.
    JavaScript,
    /// TypeScript, TSX and declarations included: `.ts`, `.tsx`, `.mts`, `.cts`.
    TypeScript,
    /// Python and its stubs: `.py`, `.pyi`.
    Python,
}

impl Language {
    /// The language of the file at `path`, or `None` where its imports are not known.
    pub fn of_path(path: &str) -> Option<Self> {
        let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
        match extension {
            "js" | "jsx" | "mjs" | "cjs" => Some(Language::JavaScript),
            "ts" | "tsx" | "mts" | "cts" => Some(Language::TypeScript),
            "py" | "pyi" => Some(Language::Python),
            _ => None,
        }
    }

    /// Lower-case name, as the wire has it.
    pub fn name(self) -> &'static str {
        match self {
            Language::JavaScript => "javascript",
            Language::TypeScript => "typescript",
            Language::Python => "python",
        }
    }
}

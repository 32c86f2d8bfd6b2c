//! One import, as written.

use crate::import_kind::ImportKind;

/// Longest specifier that is kept, in bytes: the limit of file systems for one path.
pub(crate) const MAX_SPECIFIER_BYTES: usize = 4096;

/// The name of a reference to types, beside one to a path.
pub(crate) const TYPES: &str = "types";

/// One import, as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Specifier {
    /// The imported module. JavaScript and TypeScript: the string's value (`./a`, `react`). Python: the dotted module
    /// with its leading dots (`a.b`, `.`, `..pkg`). Rust: the path of one leaf of `use` (`crate::a::b`, `serde::*`), or
    /// of a `mod` with the inline modules around it (`b`, or `a::b` within `mod a { }`). Go: the path of the package.
    pub text: String,
    /// Python's `from text import name`: one specifier for each name, because it may be a submodule. `None` otherwise,
    /// `*` for a star import. Rust's `mod`: the value of its `path` attribute. Rust's `use a::b`: its meaning, if the
    /// file itself binds the name `a`. TypeScript's `/// <reference types="text" />`: `types`. A pattern of JavaScript:
    /// patterns of the files that it excludes, one per line.
    pub name: Option<String>,
    pub kind: ImportKind,
    pub line: u32,
}

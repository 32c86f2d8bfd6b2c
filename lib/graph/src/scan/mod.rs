//! Text -> specifiers. A scanner sees one file's bytes and nothing else; it never resolves.

mod component;
mod go;
mod javascript;
mod last_word;
mod lines;
mod meter;
#[cfg(test)]
mod properties;
mod python;
mod rust;

use javascript::{Dialect, Scanner};
use serde::{Deserialize, Serialize};

use super::language::Language;

/// How a specifier is written. The documented edge type stays `import`; the kind says which form it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportKind {
    /// `import ...`, `import x = require()`, `<script src="x">` of a component, Python `import a` and `from a import b`.
    Import,
    /// `export ... from`.
    ExportFrom,
    /// `import type`, `export type ... from`, `import("x").T`, and `import { type A } from` where every name is so marked.
    Type,
    /// `import("x")`, `importlib.import_module("x")`.
    Dynamic,
    /// `require("x")`.
    Require,
    /// `require.resolve("x")`, `import.meta.resolve("x")`.
    RequireResolve,
    /// `new URL("./x", import.meta.url)`: relative to the file even without `./`.
    Url,
    /// `jest.mock("x")`, `vi.mock("x")` and the other calls of a test runner that name a module.
    Mock,
    /// `import("x")` in a JSDoc comment, and its `@import` tag.
    JsDoc,
    /// `/// <reference path="x" />`, Rust's `include!("x")`, `include_str!` and `include_bytes!`: relative to the file even
    /// without `./`.
    Reference,
    /// Rust's `mod x;`.
    Module,
    /// Go's `//go:build`, where no build takes the file: no import, but kept because packages depend on it.
    Constraint,
    /// Rust's `a::b::c` outside `use`, without its last name, once for each.
    Path,
    /// A module in the list of AMD's `define(["x"], ...)` or `require(["x"], ...)`.
    Amd,
}

impl ImportKind {
    /// Every kind, in order.
    pub const ALL: [ImportKind; 14] = [
        ImportKind::Import,
        ImportKind::ExportFrom,
        ImportKind::Type,
        ImportKind::Dynamic,
        ImportKind::Require,
        ImportKind::RequireResolve,
        ImportKind::Url,
        ImportKind::Mock,
        ImportKind::JsDoc,
        ImportKind::Reference,
        ImportKind::Module,
        ImportKind::Constraint,
        ImportKind::Path,
        ImportKind::Amd,
    ];

    /// Lower-case name, as the wire has it.
    pub fn name(self) -> &'static str {
        match self {
            ImportKind::Import => "import",
            ImportKind::ExportFrom => "export_from",
            ImportKind::Type => "type",
            ImportKind::Dynamic => "dynamic",
            ImportKind::Require => "require",
            ImportKind::RequireResolve => "require_resolve",
            ImportKind::Url => "url",
            ImportKind::Mock => "mock",
            ImportKind::JsDoc => "js_doc",
            ImportKind::Reference => "reference",
            ImportKind::Module => "module",
            ImportKind::Constraint => "constraint",
            ImportKind::Path => "path",
            ImportKind::Amd => "amd",
        }
    }
}

/// One import, as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Specifier {
    /// What is imported. JavaScript and TypeScript: the string's value (`./a`, `react`). Python: the dotted module with
    /// its leading dots (`a.b`, `.`, `..pkg`). Rust: the path of one leaf of `use` (`crate::a::b`, `serde::*`) or of a `mod`
    /// (`b`, or `a::b` where it stands within `mod a { }`), inline modules around it told. Go: the path of
    /// the package.
    pub text: String,
    /// Python's `from text import name`: one specifier for each name, because it may be a submodule. `None` otherwise;
    /// `*` for a star import. Rust's `mod`: what its `path` attribute says. Rust's `use a::b`: what that is where `a` is a
    /// name that the file itself binds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The form.
    pub kind: ImportKind,
    /// Line, from 1.
    pub line: u32,
}

/// The longest specifier that is kept, in bytes: what file systems allow for one path.
const MAX_SPECIFIER_BYTES: usize = 4096;

/// All imports of a file, in the order written.
///
/// A specifier that is not valid UTF-8, or is longer than any path, is left out. Takes time linear in the length of
/// the text, whatever it holds.
pub fn scan(language: Language, text: &[u8]) -> Vec<Specifier> {
    let mut found = Vec::new();
    scan_into(language, text, &mut found);
    found
}

/// As [`scan`], but appends to `found`.
pub fn scan_into(language: Language, text: &[u8], found: &mut Vec<Specifier>) {
    language.scanner()(text, found);
}

// What the table of languages names, one for each row.

pub(super) fn javascript(text: &[u8], found: &mut Vec<Specifier>) {
    Scanner::new(text, found).scan_file(Dialect {
        jsx: true,
        types: false,
    });
}

pub(super) fn typescript(text: &[u8], found: &mut Vec<Specifier>) {
    Scanner::new(text, found).scan_file(Dialect {
        jsx: false,
        types: true,
    });
}

pub(super) fn typescript_jsx(text: &[u8], found: &mut Vec<Specifier>) {
    Scanner::new(text, found).scan_file(Dialect { jsx: true, types: true });
}

pub(super) fn component(text: &[u8], found: &mut Vec<Specifier>) {
    component::scan(text, found);
}

pub(super) fn astro(text: &[u8], found: &mut Vec<Specifier>) {
    component::scan_astro(text, found);
}

pub(super) fn python(text: &[u8], found: &mut Vec<Specifier>) {
    python::Scanner::new(text, found).scan_file();
}

pub(super) fn rust(text: &[u8], found: &mut Vec<Specifier>) {
    rust::Scanner::new(text, found).scan_file();
}

pub(super) fn go(text: &[u8], found: &mut Vec<Specifier>) {
    go::Scanner::new(text, found).scan_file();
}

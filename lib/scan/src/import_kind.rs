//! The forms in which a file imports another.

use crate::language::Language;

/// The form of a specifier. The documented edge type stays `import`; the kind has the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ImportKind {
    /// `import ...`, `<script src="x">` of a component, Python `import a` and `from a import b`.
    Import,
    /// `export ... from`.
    ExportFrom,
    /// `import type`, `export type ... from`, `import("x").T`, and `import { type A } from` if every name has `type`.
    Type,
    /// `import("x")`, `importlib.import_module("x")`.
    Dynamic,
    /// `require("x")`, `import x = require("x")`.
    Require,
    /// `require.resolve("x")`, `import.meta.resolve("x")`.
    RequireResolve,
    /// `new URL("./x", import.meta.url)`: relative to the file even without `./`.
    Url,
    /// `jest.mock("x")`, `vi.mock("x")` and other calls of a test runner that name a module.
    Mock,
    /// `import("x")` in a JSDoc comment, and its `@import` tag.
    JsDoc,
    /// `/// <reference path="x" />`, Rust's `include!("x")`, `include_str!` and `include_bytes!`: relative to the file
    /// even without `./`.
    Reference,
    /// Rust's `mod x;`.
    Module,
    /// Go's `//go:build` that no build meets: no import, but kept because packages depend on it.
    Constraint,
    /// Rust's `a::b::c` outside `use`, without its last name; each path once.
    Path,
    /// A module in the list of AMD's `define(["x"], ...)` or `require(["x"], ...)`.
    Amd,
    /// Vite's `import.meta.glob("./*.x")` and webpack's `require.context("./x")`: all files that match.
    Glob,
}

impl ImportKind {
    /// Every kind, in order.
    pub const ALL: [ImportKind; 15] = [
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
        ImportKind::Glob,
    ];

    /// Lower-case name, as on the wire.
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
            ImportKind::Glob => "glob",
        }
    }
}

/// The forms in which one file imports another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct KindSet(u16);

impl KindSet {
    /// The set with only `kind`.
    pub fn of(kind: ImportKind) -> Self {
        KindSet(1 << kind as u16)
    }

    /// The stored form of the set: a bit for each kind, in their order.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// The set of [`Self::bits`].
    pub fn from_bits(bits: u16) -> Self {
        KindSet(bits)
    }

    /// The union of both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        KindSet(self.0 | other.0)
    }

    /// Whether the set contains `kind`.
    pub fn contains(self, kind: ImportKind) -> bool {
        self.0 & Self::of(kind).0 != 0
    }

    /// The names of its kinds, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let kinds = ImportKind::ALL.into_iter().filter(move |kind| self.contains(*kind));
        kinds.map(ImportKind::name)
    }

    /// Whether one of the forms is an import of the language itself, in a source file in `language`: import statements,
    /// `export ... from`, types, and in JavaScript and TypeScript `import()` and `require()`. Names in comments, and in
    /// calls that only tools understand, do not count.
    pub fn is_core(self, language: Language) -> bool {
        let core = Self::of(ImportKind::Import)
            .union(Self::of(ImportKind::ExportFrom))
            .union(Self::of(ImportKind::Type))
            .union(Self::of(ImportKind::Require))
            .union(Self::of(ImportKind::Module))
            .union(Self::of(ImportKind::Path));
        let core = if language == Language::Python {
            core
        } else {
            core.union(Self::of(ImportKind::Dynamic))
        };
        self.0 & core.0 != 0
    }
}

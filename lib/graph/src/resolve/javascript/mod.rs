//! JavaScript and TypeScript: specifiers -> files.
//!
//! The resolver first does what TypeScript does under the config that governs the file, then what bundlers do (assets,
//! `?query`). Last comes the source of files that are not built yet. If a declaration has its implementation next to it
//! (`x.d.ts`, `x.js`), the target is the implementation, because its changes affect the importer.

mod aliases;
mod files;
mod globs;
mod importer;
mod packages;
mod platforms;
mod unbuilt;

use coord_scan::{ImportKind, Specifier};

use crate::resolution::{Reason, Resolution};
use crate::resolve::javascript::aliases::AliasTarget;
use crate::resolve::manifests::deno::registry_package;
use crate::resolve::manifests::dependency::split_package_name;
use crate::resolve::paths::{folder, join};

pub(crate) use importer::{Form, Importer};

impl Importer<'_> {
    /// The first target of `specifier`. Any others are then in `more_targets`.
    pub(crate) fn resolve(&mut self, specifier: &Specifier) -> Resolution {
        self.more_targets.clear();
        let text = &specifier.text;
        if text.is_empty() || memchr::memchr(0, text.as_bytes()).is_some() {
            return Resolution::Unresolved(Reason::Invalid);
        }
        let outcome = self.resolve_kind(text, specifier);
        match outcome {
            Resolution::File(file) => self.add_variants(file),
            Resolution::Unresolved(_) => self.more_targets.clear(),
        }
        outcome
    }

    fn resolve_kind(&mut self, text: &str, specifier: &Specifier) -> Resolution {
        let plain = match memchr::memchr2(b'?', b'#', &text.as_bytes()[1..]) {
            Some(at) => &text[..=at],
            None => text,
        };
        self.form = match specifier.kind {
            ImportKind::Require | ImportKind::RequireResolve => Form::Require,
            ImportKind::Dynamic => Form::Import,
            _ if self.is_common_js() => Form::CommonJsImport,
            _ => Form::Import,
        };
        match (specifier.kind, &specifier.name) {
            (ImportKind::Reference, Some(_)) => self.resolve_types(text),
            (ImportKind::Url | ImportKind::Reference, _) => self.resolve_exact(plain),
            _ => match self.resolve_text(text) {
                Resolution::Unresolved(_) if plain.len() < text.len() => self.resolve_text(plain),
                outcome => outcome,
            },
        }
    }

    /// The types that `/// <reference types="text" />` asks for.
    fn resolve_types(&mut self, text: &str) -> Resolution {
        match split_package_name(text) {
            _ if is_relative(text) => self.resolve_relative(text),
            Some((name, subpath)) if !text.starts_with('/') => self.resolve_package(name, subpath),
            _ => Resolution::Unresolved(Reason::External),
        }
    }

    /// A literal path, relative to the file's folder.
    fn resolve_exact(&mut self, path: &str) -> Resolution {
        if path.starts_with('/') || path.contains(':') {
            return Resolution::Unresolved(Reason::External);
        }
        if !join(self.buffer, folder(self.from), path) {
            return Resolution::Unresolved(Reason::OutsideRepository);
        }
        Resolution::of(self.table.file(self.buffer, self.trace), Reason::Missing)
    }

    fn resolve_text(&mut self, text: &str) -> Resolution {
        if is_relative(text) {
            return self.resolve_relative(text);
        }
        let is_rooted = text.starts_with('/');
        let context = self.context;
        let mut alias_target = match context.options.as_deref() {
            // Paths that begin with a slash are compared with patterns, not with folders.
            Some(options) if is_rooted => self.resolve_by_paths(&options.paths, text).0,
            Some(options) => self.resolve_by_options(options, text),
            None => AliasTarget::Unknown,
        };
        for paths in context.aliases.iter().flat_map(|aliases| aliases.all_paths()) {
            if matches!(alias_target, AliasTarget::File(_)) || self.trace.is_spent() {
                break;
            }
            self.trace.charge(1);
            alias_target = self.resolve_by_paths(paths, text).0.or(alias_target);
        }
        if let AliasTarget::File(file) = alias_target {
            return Resolution::File(file);
        }
        if is_rooted && let Some(file) = self.resolve_by_root(text) {
            return Resolution::File(file);
        }
        if text.starts_with('#') {
            return Resolution::of(self.resolve_by_imports(text), Reason::Missing);
        }
        let outcome = match registry_package(text).or_else(|| split_package_name(text)) {
            // A package of the workspace, as Deno names it.
            Some((name, subpath)) if text.starts_with("jsr:") || text.starts_with("npm:") => {
                self.resolve_package(name, subpath)
            }
            _ if is_rooted || text.contains(':') => Resolution::Unresolved(Reason::External),
            Some((name, subpath)) => self.resolve_package(name, subpath),
            None => Resolution::Unresolved(Reason::Invalid),
        };
        match outcome {
            Resolution::Unresolved(_) if alias_target == AliasTarget::Nowhere => {
                Resolution::Unresolved(Reason::Missing)
            }
            outcome => outcome,
        }
    }

    fn resolve_relative(&mut self, text: &str) -> Resolution {
        let mut base = std::mem::take(self.buffer);
        let outcome = if join(&mut base, folder(self.from), text) {
            let file = self.load_relative(&base, text);
            let file = file.or_else(|| self.load_as_bundlers(&base));
            Resolution::of(file.or_else(|| self.load_unbuilt(&base)), Reason::Missing)
        } else {
            Resolution::Unresolved(Reason::OutsideRepository)
        };
        *self.buffer = base;
        outcome
    }
}

fn is_relative(text: &str) -> bool {
    matches!(text, "." | "..") || text.starts_with("./") || text.starts_with("../")
}

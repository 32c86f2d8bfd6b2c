//! JavaScript and TypeScript: specifiers -> files.
//!
//! A specifier is resolved as TypeScript does under the config that governs the file, then as bundlers do (assets,
//! `?query`). Last comes the source of files that are not built yet. Where a declaration has its implementation beside it
//! (`x.d.ts`, `x.js`), the target is the implementation: its changes reach the importer.

mod aliases;
mod files;
mod globs;
mod importer;
mod packages;
mod unbuilt;

use crate::import_kind::ImportKind;
use crate::resolution::{Reason, Resolution};
use crate::resolve::javascript::aliases::ByOptions;
use crate::resolve::manifests::package_json::split_package_name;
use crate::resolve::paths::{folder, join};

pub(crate) use importer::Importer;

impl Importer<'_> {
    /// The target of `specifier`.
    pub(crate) fn resolve(&mut self, specifier: &str, kind: ImportKind) -> Resolution {
        if specifier.is_empty() || memchr::memchr(0, specifier.as_bytes()).is_some() {
            return Resolution::Unresolved(Reason::Invalid);
        }
        let plain = match memchr::memchr2(b'?', b'#', &specifier.as_bytes()[1..]) {
            Some(at) => &specifier[..=at],
            None => specifier,
        };
        if matches!(kind, ImportKind::Url | ImportKind::Reference) {
            return self.resolve_exact(plain);
        }
        let require = match kind {
            ImportKind::Require | ImportKind::RequireResolve => true,
            ImportKind::Dynamic => false,
            _ => self.is_common_js(),
        };
        let mut outcome = self.resolve_text(specifier, require);
        if plain.len() < specifier.len() && !matches!(outcome, Resolution::File(_)) {
            outcome = self.resolve_text(plain, require);
        }
        outcome
    }

    /// A literal path, relative to the file's folder.
    fn resolve_exact(&mut self, path: &str) -> Resolution {
        if path.starts_with('/') || path.contains(':') {
            return Resolution::Unresolved(Reason::External);
        }
        if !join(self.buffer, folder(self.from), path) {
            return Resolution::Unresolved(Reason::OutsideRepository);
        }
        match self.table.file(self.buffer, self.trace) {
            Some(file) => Resolution::File(file),
            None => Resolution::Unresolved(Reason::Missing),
        }
    }

    fn resolve_text(&mut self, text: &str, require: bool) -> Resolution {
        if is_relative(text) {
            return self.resolve_relative(text);
        }
        if text.starts_with('/') {
            return Resolution::Unresolved(Reason::External);
        }
        let context = self.context;
        let options = context.options.as_deref();
        let mut by_options = options.map_or(ByOptions::Unknown, |options| self.by_options(options, text));
        for paths in context.framework.iter().flat_map(|framework| framework.all_paths()) {
            if !matches!(by_options, ByOptions::File(_)) {
                by_options = self.by_paths(paths, text).0.or(by_options);
            }
        }
        if let ByOptions::File(file) = by_options {
            return Resolution::File(file);
        }
        if text.starts_with('#') {
            return match self.by_imports(text, require) {
                Some(file) => Resolution::File(file),
                None => Resolution::Unresolved(Reason::Missing),
            };
        }
        if text.contains(':') {
            return Resolution::Unresolved(Reason::External);
        }
        let outcome = match split_package_name(text) {
            Some((name, subpath)) => self.resolve_package(name, subpath, require),
            None => Resolution::Unresolved(Reason::Invalid),
        };
        match outcome {
            Resolution::Unresolved(_) if by_options == ByOptions::Nowhere => Resolution::Unresolved(Reason::Missing),
            outcome => outcome,
        }
    }

    fn resolve_relative(&mut self, text: &str) -> Resolution {
        let mut base = std::mem::take(self.buffer);
        let outcome = if join(&mut base, folder(self.from), text) {
            match self.load_relative(&base, text) {
                Some(file) => Resolution::File(file),
                None => Resolution::Unresolved(Reason::Missing),
            }
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

//! Findings -> specifiers: looks up the names of each.

use std::collections::HashSet;

use crate::import_kind::ImportKind;
use crate::lines::Lines;
use crate::rust::scanner::{Form, PendingSpecifier, Scanner};
use crate::rust::scope;
use crate::rust::scope::{Scopes, split_first};
use crate::specifier::{MAX_SPECIFIER_BYTES, Specifier};

/// First names of paths into the standard library.
const BUILT_IN: [&str; 20] = [
    "std", "core", "alloc", "bool", "char", "str", "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8",
    "i16", "i32", "i64", "i128", "isize",
];

impl Scanner<'_, '_> {
    /// Looks up the names of all findings, and adds the specifiers.
    pub(super) fn look_up(self) {
        let mut lines = Lines::new(self.text);
        let mut seen = HashSet::new();
        let (pending, is_cut) = self.pending.finish();
        for PendingSpecifier { position, scope, form } in pending {
            let (text, name, kind) = match form {
                Form::Module(text, path) => (text, path, ImportKind::Module),
                Form::Include(text) => (text, None, ImportKind::Reference),
                Form::CrateAlias(name, path) => (name, Some(path), ImportKind::Import),
                Form::Use(path) => match (self.scopes.absolute_path(&path, scope), split_first(&path).0) {
                    (Some(absolute), "" | "crate" | "self" | "super") => (absolute, None, ImportKind::Import),
                    (Some(absolute), _) if absolute != path => (path, Some(absolute), ImportKind::Import),
                    (Some(_), _) => (path, None, ImportKind::Import),
                    (None, _) => continue,
                },
                Form::Path(path) => {
                    let Some(absolute) = self.scopes.absolute_path(&path, scope) else {
                        continue;
                    };
                    if is_redundant(&self.scopes, &path, &absolute) || !seen.insert(absolute.clone()) {
                        continue;
                    }
                    (absolute, None, ImportKind::Path)
                }
            };
            if text.len() > MAX_SPECIFIER_BYTES {
                continue;
            }
            let line = lines.at(self.text, position);
            self.findings.push(Specifier { text, name, kind, line });
        }
        if is_cut || self.scopes.has_stopped() {
            self.findings.stop_collecting();
        }
    }
}

/// Whether a path, as written and as looked up, adds nothing to the `mod`s and `use`s: it leads into this file, to the
/// meaning of one of them, or into the standard library.
fn is_redundant(scopes: &Scopes<'_>, written: &str, absolute: &str) -> bool {
    let is_bound_name = !written.contains("::") && written != absolute && !matches!(written, "self" | "super");
    let (first, rest) = split_first(absolute);
    match first {
        "self" => {
            let (name, _) = split_first(rest);
            is_bound_name || rest.is_empty() || !scopes.is_declared(scope::FILE, name)
        }
        "super" | "crate" | "" => is_bound_name,
        name => is_bound_name || BUILT_IN.contains(&name),
    }
}

//! Rust: modules and paths -> files.
//!
//! A path is followed along the tree of modules ([`modules`]). It begins at the roots of its crate, at its file, at files
//! that declare its file, or at the library of another package of the repository ([`packages`]). It leads to the file of the
//! deepest module that it names. Reexported names (`pub use`) are not followed: the target is the file that has to keep the
//! name.

mod modules;
mod packages;

use std::sync::Arc;

use crate::file::FileId;
use crate::import_kind::ImportKind;
use crate::resolution::Reason;
use crate::resolve::keys::Trace;
use crate::resolve::manifests::same_manifests;
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{folder, is_within, joined};
use crate::resolve::read_tree::ReadTree;
use crate::specifier::Specifier;
use modules::{Child, Modules, child_key, declarations, place_key};
use packages::{Package, Packages, packages};

/// Most modules that one path can lead to at once.
const MAX_MODULES: usize = 32;

/// The crates of one tree.
#[derive(Debug)]
pub(crate) struct Crates {
    packages: Packages,
    modules: Modules,
}

impl Crates {
    pub(crate) fn new(tree: ReadTree<'_>) -> Self {
        let (packages, roots) = packages(tree.table, tree.manifests);
        Crates {
            packages,
            modules: Modules::new(tree.table, tree.records, &roots),
        }
    }

    /// Whether two versions of a tree, with the same paths, certainly have the same crates.
    pub(crate) fn are_same(one: ReadTree<'_>, other: ReadTree<'_>) -> bool {
        let is_same = |id: FileId| {
            let at = id as usize;
            match (&one.records[at], &other.records[at]) {
                (Some(one), Some(other)) if Arc::ptr_eq(one, other) => true,
                (None, None) => true,
                _ => declarations(one.records, id).eq(declarations(other.records, id)),
            }
        };
        same_manifests(one.manifests, other.manifests) && (0..one.records.len() as FileId).all(is_same)
    }

    /// Whether [`Self::changed_keys`] covers every difference.
    pub(crate) fn has_same_packages(&self, older: &Self) -> bool {
        self.packages == older.packages
    }

    /// The keys of lookups whose results differ from `older`'s.
    pub(crate) fn changed_keys(
        &self,
        table: &PathTable,
        older: &Self,
        older_table: &PathTable,
        sink: &mut impl FnMut(u32),
    ) {
        self.modules.changed_keys(table, &older.modules, older_table, sink);
    }

    /// The targets of `specifier` in the file `from`, each once.
    pub(crate) fn resolve(
        &self,
        table: &PathTable,
        from: FileId,
        specifier: &Specifier,
        trace: &mut Trace,
    ) -> Result<Vec<FileId>, Reason> {
        let path = table.path(from);
        // Each folder around the file may be that of its package.
        trace.charge_text(path.len() * 4);
        match specifier.kind {
            ImportKind::Module => self.declared(table, from, specifier, trace),
            ImportKind::Reference => {
                let file = joined(folder(path), &specifier.text).ok_or(Reason::OutsideRepository)?;
                table.file(&file, trace).map(|file| vec![file]).ok_or(Reason::Missing)
            }
            ImportKind::Import => {
                let package = self.package(path);
                match &specifier.name {
                    Some(meaning) if !package.is_some_and(|package| package.is_2015) => {
                        self.path(table, from, package, meaning, trace)
                    }
                    _ => self.used(table, from, package, &specifier.text, trace),
                }
            }
            _ => self.path(table, from, self.package(path), &specifier.text, trace),
        }
    }

    /// The package whose folder is the nearest one around `path`.
    fn package(&self, path: &str) -> Option<&Package> {
        let mut dir = folder(path);
        loop {
            if let Some(package) = self.packages.get(dir) {
                return Some(package);
            }
            if dir.is_empty() {
                return None;
            }
            dir = folder(dir);
        }
    }

    fn declared(
        &self,
        table: &PathTable,
        from: FileId,
        specifier: &Specifier,
        trace: &mut Trace,
    ) -> Result<Vec<FileId>, Reason> {
        let path = table.path(from);
        trace.push(child_key(table.keys(), path, &specifier.text));
        match self.modules.child(from, &specifier.text) {
            Some(Child::Files(files)) => Ok(files.to_vec()),
            _ => match &specifier.name {
                Some(elsewhere) if joined(folder(path), elsewhere).is_none() => Err(Reason::OutsideRepository),
                _ => Err(Reason::Missing),
            },
        }
    }

    /// The target of a path of `use`, which begins at the crate's root in the edition of 2015.
    fn used(
        &self,
        table: &PathTable,
        from: FileId,
        package: Option<&Package>,
        path: &str,
        trace: &mut Trace,
    ) -> Result<Vec<FileId>, Reason> {
        let first = split_first(path).0;
        let is_named = !matches!(first, "crate" | "self" | "super");
        if is_named && package.is_some_and(|package| package.is_2015) {
            let path = path.trim_start_matches("::");
            let first = split_first(path).0;
            let roots = self.roots(table, from, package, trace);
            let has_it = roots.iter().any(|root| {
                trace.push(child_key(table.keys(), table.path(*root), first));
                self.modules.child(*root, first).is_some()
            });
            if has_it || first == "*" {
                return Ok(self.walk(table, roots, path, trace));
            }
        }
        self.path(table, from, package, path, trace)
    }

    fn path(
        &self,
        table: &PathTable,
        from: FileId,
        package: Option<&Package>,
        path: &str,
        trace: &mut Trace,
    ) -> Result<Vec<FileId>, Reason> {
        match split_first(path) {
            ("crate", rest) => {
                let roots = self.roots(table, from, package, trace);
                Ok(self.walk(table, roots, rest, trace))
            }
            ("self", rest) => Ok(self.walk(table, vec![from], rest, trace)),
            ("super", _) => self.above(table, from, path, trace),
            ("", rest) if !rest.is_empty() => self.external(table, package, rest, trace),
            ("", _) => Err(Reason::Invalid),
            _ => self.external(table, package, path, trace),
        }
    }

    /// The target of a path that begins with the name of a crate.
    fn external(
        &self,
        table: &PathTable,
        package: Option<&Package>,
        path: &str,
        trace: &mut Trace,
    ) -> Result<Vec<FileId>, Reason> {
        let (name, rest) = split_first(path);
        let root = package
            .and_then(|package| package.crates.get(name))
            .ok_or(Reason::External)?;
        let root = table.file(root, trace).ok_or(Reason::NoEntry)?;
        Ok(self.walk(table, vec![root], rest, trace))
    }

    /// The roots of the crates that contain `file`. A file that no module declares counts to its package's library if it is
    /// below the library's folder; else it is a root itself.
    fn roots(&self, table: &PathTable, file: FileId, package: Option<&Package>, trace: &mut Trace) -> Vec<FileId> {
        let path = table.path(file);
        trace.push(place_key(table.keys(), path));
        if let Some(node) = self.modules.node(file).filter(|node| !node.roots.is_empty()) {
            return node.roots.clone();
        }
        let lib = package.and_then(|package| package.lib.as_deref());
        let lib = lib.filter(|lib| is_within(path, folder(lib)));
        vec![lib.and_then(|lib| table.file(lib, trace)).unwrap_or(file)]
    }

    /// The target of a path that begins with `super`.
    fn above(&self, table: &PathTable, from: FileId, path: &str, trace: &mut Trace) -> Result<Vec<FileId>, Reason> {
        let mut places = vec![(from, String::new())];
        let mut rest = path;
        while let ("super", behind) = split_first(rest) {
            rest = behind;
            let mut above = Vec::new();
            for (file, inline) in places {
                if let Some(outer) = inline.strip_suffix("::") {
                    let outer = outer.rfind("::").map_or("", |at| &outer[..at + 2]);
                    above.push((file, outer.to_owned()));
                    continue;
                }
                trace.push(place_key(table.keys(), table.path(file)));
                above.extend(
                    self.modules
                        .node(file)
                        .into_iter()
                        .flat_map(|node| node.parents.clone()),
                );
            }
            above.sort_unstable();
            above.dedup();
            above.truncate(MAX_MODULES);
            places = above;
        }
        if places.is_empty() {
            return Err(Reason::Missing);
        }
        Ok(self.walk_from(table, places, rest, trace))
    }

    fn walk(&self, table: &PathTable, modules: Vec<FileId>, path: &str, trace: &mut Trace) -> Vec<FileId> {
        let places = modules.into_iter().map(|file| (file, String::new())).collect();
        self.walk_from(table, places, path, trace)
    }

    /// The files of the deepest modules along `path`. Each place is a file and an inline module in it.
    fn walk_from(
        &self,
        table: &PathTable,
        mut places: Vec<(FileId, String)>,
        path: &str,
        trace: &mut Trace,
    ) -> Vec<FileId> {
        let mut reached = Vec::new();
        for name in path.split("::").filter(|name| !name.is_empty() && *name != "*") {
            let mut next = Vec::new();
            for (file, inline) in places {
                let name = format!("{inline}{name}");
                trace.charge_text(name.len() + table.path(file).len());
                trace.push(child_key(table.keys(), table.path(file), &name));
                match self.modules.child(file, &name) {
                    Some(Child::Files(files)) => next.extend(files.iter().map(|file| (*file, String::new()))),
                    Some(Child::Inline) => next.push((file, name + "::")),
                    None => reached.push(file),
                }
            }
            next.sort_unstable();
            next.dedup();
            next.truncate(MAX_MODULES);
            places = next;
        }
        reached.extend(places.into_iter().map(|(file, _)| file));
        reached.sort_unstable();
        reached.dedup();
        reached
    }
}

fn split_first(path: &str) -> (&str, &str) {
    path.split_once("::").unwrap_or((path, ""))
}

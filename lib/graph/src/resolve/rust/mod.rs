//! Rust: modules and paths -> files.
//!
//! The resolver follows a path along the tree of modules ([`modules`]). A path begins at the roots of its crate, at its
//! file, at files that declare its file, or at the library of another package of the repository ([`packages`]). It
//! leads to the file of the deepest module that it names. The resolver does not follow reexports (`pub use`): the
//! target is the file that must keep the name.

mod modules;
mod packages;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coord_scan::{ImportKind, Specifier};
use modules::{Child, Modules, child_key, declarations, declarations_key};
use packages::{MAX_PACKAGES, Owners, Package, Packages, packages};

use crate::file::FileId;
use crate::record::Record;
use crate::resolution::Reason;
use crate::resolve::keys::Trace;
use crate::resolve::manifests::same_manifests;
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{below, folder, is_within, joined};
use crate::resolve::read_tree::TreeContext;

/// Most modules that one path can lead to at once.
const MAX_MODULES: usize = 32;

/// The crates of one tree.
#[derive(Debug)]
pub(crate) struct Crates {
    packages: Packages,
    /// The owners of each root, unless its only owner is the nearest package around it.
    owners: Owners,
    modules: Modules,
    crate_names: CrateNames,
}

/// Path of a file -> the names that it gives to crates -> the paths of these crates.
type CrateNames = BTreeMap<String, BTreeMap<String, String>>;

impl Crates {
    pub(crate) fn new(tree: TreeContext<'_>) -> Self {
        let (packages, mut owners) = packages(tree.table, tree.manifests);
        let modules = Modules::new(tree.table, tree.records, owners.keys());
        owners.retain(|root, owners| {
            let nearest = nearest_package(&packages, root).map(|package| &package.folder);
            owners.iter().ne(nearest)
        });
        Crates {
            packages,
            owners,
            modules,
            crate_names: crate_names(tree),
        }
    }

    /// Whether two versions of a tree, with the same paths, certainly have the same crates.
    pub(crate) fn are_same(one: TreeContext<'_>, other: TreeContext<'_>) -> bool {
        let is_same = |id: FileId| {
            let at = id as usize;
            match (&one.records[at], &other.records[at]) {
                (Some(one), Some(other)) if Arc::ptr_eq(one, other) => true,
                (None, None) => true,
                (one_record, other_record) => {
                    declarations(one.records, id).eq(declarations(other.records, id))
                        && crate_renames(one_record).eq(crate_renames(other_record))
                }
            }
        };
        same_manifests(one.manifests, other.manifests) && (0..one.records.len() as FileId).all(is_same)
    }

    /// Whether [`Self::changed_keys`] covers every difference.
    pub(crate) fn has_same_packages(&self, older: &Self) -> bool {
        self.packages == older.packages && self.owners == older.owners && self.crate_names == older.crate_names
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
        match specifier.kind {
            ImportKind::Module => self.resolve_mod(table, from, specifier, trace),
            ImportKind::Reference => {
                let file = joined(folder(path), &specifier.text).ok_or(Reason::OutsideRepository)?;
                table.file(&file, trace).map(|file| vec![file]).ok_or(Reason::Missing)
            }
            ImportKind::Import => {
                let packages = self.packages_of(table, from, trace);
                let is_2015 = packages.first().is_some_and(|package| package.is_2015);
                match &specifier.name {
                    Some(meaning) if is_crate_rename(specifier) || !is_2015 => {
                        self.resolve_path(table, from, &packages, meaning, trace)
                    }
                    _ if is_2015 => self.resolve_use_2015(table, from, &packages, &specifier.text, trace),
                    _ => self.resolve_path(table, from, &packages, &specifier.text, trace),
                }
            }
            _ => {
                let packages = self.packages_of(table, from, trace);
                self.resolve_path(table, from, &packages, &specifier.text, trace)
            }
        }
    }

    /// The packages of the crates that contain `file`, at most [`MAX_PACKAGES`]. Each has a target with the crate's
    /// root. A file that no crate contains belongs to the nearest package around it.
    fn packages_of(&self, table: &PathTable, file: FileId, trace: &mut Trace) -> Vec<&Package> {
        trace.push(declarations_key(table.keys(), table.path(file)));
        let roots = self.modules.node(file).map(|node| &node.roots[..]);
        let alone = [file];
        let mut packages: Vec<&Package> = Vec::new();
        for root in roots.filter(|roots| !roots.is_empty()).unwrap_or(&alone) {
            let root = table.path(*root);
            // Each folder around the root may be the folder of its package.
            trace.charge_text(root.len() * 4);
            let root_packages = match self.owners.get(root) {
                Some(owners) => owners.iter().filter_map(|dir| self.packages.get(dir)).collect(),
                None => Vec::from_iter(nearest_package(&self.packages, root)),
            };
            for package in root_packages {
                trace.charge_list(packages.len());
                if packages.len() < MAX_PACKAGES && !packages.iter().any(|other| std::ptr::eq(*other, package)) {
                    packages.push(package);
                }
            }
        }
        packages
    }

    fn resolve_mod(
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
                Some(relative) if joined(folder(path), relative).is_none() => Err(Reason::OutsideRepository),
                _ => Err(Reason::Missing),
            },
        }
    }

    /// The target of a `use` path in edition 2015, which begins at the crate's root.
    fn resolve_use_2015(
        &self,
        table: &PathTable,
        from: FileId,
        packages: &[&Package],
        path: &str,
        trace: &mut Trace,
    ) -> Result<Vec<FileId>, Reason> {
        if !matches!(split_first(path).0, "crate" | "self" | "super") {
            let path = path.trim_start_matches("::");
            let first = split_first(path).0;
            let roots = self.crate_roots(table, from, packages, trace);
            let has_module = roots.iter().any(|root| {
                trace.push(child_key(table.keys(), table.path(*root), first));
                self.modules.child(*root, first).is_some()
            });
            if has_module || first == "*" {
                return Ok(self.walk(table, roots, path, trace));
            }
        }
        self.resolve_path(table, from, packages, path, trace)
    }

    fn resolve_path(
        &self,
        table: &PathTable,
        from: FileId,
        packages: &[&Package],
        path: &str,
        trace: &mut Trace,
    ) -> Result<Vec<FileId>, Reason> {
        match split_first(path) {
            ("crate", rest) => {
                let roots = self.crate_roots(table, from, packages, trace);
                Ok(self.walk(table, roots, rest, trace))
            }
            ("self", rest) => Ok(self.walk(table, vec![from], rest, trace)),
            ("super", _) => self.resolve_super(table, from, path, trace),
            ("", rest) if !rest.is_empty() => self.resolve_external(table, from, packages, rest, trace),
            ("", _) => Err(Reason::Invalid),
            _ => self.resolve_external(table, from, packages, path, trace),
        }
    }

    /// The target of a path that begins with the name of a crate.
    fn resolve_external(
        &self,
        table: &PathTable,
        from: FileId,
        packages: &[&Package],
        path: &str,
        trace: &mut Trace,
    ) -> Result<Vec<FileId>, Reason> {
        let (mut name, rest) = split_first(path);
        if !self.crate_names.is_empty() {
            for root in self.crate_roots(table, from, packages, trace) {
                let names = self.crate_names.get(table.path(root));
                match names.and_then(|names| names.get(name)).map(String::as_str) {
                    Some("crate") => return Ok(self.walk(table, vec![root], rest, trace)),
                    Some(path) => {
                        name = path.trim_start_matches("::");
                        break;
                    }
                    None => {}
                }
            }
        }
        let paths: BTreeSet<&String> = packages.iter().filter_map(|package| package.crates.get(name)).collect();
        if paths.is_empty() {
            return Err(Reason::External);
        }
        let roots: Vec<FileId> = paths.into_iter().filter_map(|root| table.file(root, trace)).collect();
        if roots.is_empty() {
            return Err(Reason::NoEntry);
        }
        Ok(self.walk(table, roots, rest, trace))
    }

    /// The roots of the crates that contain `file`. If no module declares the file, this is the nearest `lib.rs` or
    /// `main.rs` in its package that is a root. Without one, it is the library if the file is below the library's
    /// folder, else the file itself.
    fn crate_roots(&self, table: &PathTable, file: FileId, packages: &[&Package], trace: &mut Trace) -> Vec<FileId> {
        let path = table.path(file);
        trace.push(declarations_key(table.keys(), path));
        if let Some(node) = self.modules.node(file).filter(|node| !node.roots.is_empty()) {
            return node.roots.clone();
        }
        let package = packages.first();
        if let Some(package) = package {
            let mut dir = folder(path);
            while is_within(dir, &package.folder) && !trace.is_spent() {
                for name in ["lib.rs", "main.rs"] {
                    let root = table.file(&below(dir, name), trace).filter(|root| *root != file);
                    if let Some(root) = root.filter(|root| self.is_root(table, *root, trace)) {
                        return vec![root];
                    }
                }
                if dir.is_empty() {
                    break;
                }
                dir = folder(dir);
            }
        }
        let lib = package.and_then(|package| package.lib.as_deref());
        let lib = lib.filter(|lib| is_within(path, folder(lib)));
        vec![lib.and_then(|lib| table.file(lib, trace)).unwrap_or(file)]
    }

    /// Whether `file` is the root of a crate.
    fn is_root(&self, table: &PathTable, file: FileId, trace: &mut Trace) -> bool {
        trace.push(declarations_key(table.keys(), table.path(file)));
        self.modules.node(file).is_some_and(|node| node.roots.contains(&file))
    }

    /// The module around `file` by its path, for a file that no module declares.
    fn outer_module(&self, table: &PathTable, file: FileId, trace: &mut Trace) -> Option<FileId> {
        let path = table.path(file);
        let mut dir = folder(path);
        if path.ends_with("/mod.rs") {
            dir = folder(dir);
        }
        let candidates = ["mod.rs", "lib.rs", "main.rs"].map(|name| below(dir, name));
        let mut candidates = std::iter::once(format!("{dir}.rs")).chain(candidates);
        candidates.find_map(|path| table.file(&path, trace).filter(|other| *other != file))
    }

    /// The target of a path that begins with `super`.
    fn resolve_super(
        &self,
        table: &PathTable,
        from: FileId,
        path: &str,
        trace: &mut Trace,
    ) -> Result<Vec<FileId>, Reason> {
        let mut places = vec![(from, String::new())];
        let mut rest = path;
        while let ("super", after) = split_first(rest) {
            rest = after;
            let mut outer = Vec::new();
            for (file, inline) in places {
                if let Some(module) = inline.strip_suffix("::") {
                    let around = module.rfind("::").map_or("", |at| &module[..at + 2]);
                    outer.push((file, around.to_owned()));
                    continue;
                }
                trace.push(declarations_key(table.keys(), table.path(file)));
                match self.modules.node(file) {
                    Some(node) if !node.parents.is_empty() || !node.roots.is_empty() => {
                        outer.extend(node.parents.iter().cloned());
                    }
                    _ => outer.extend(self.outer_module(table, file, trace).map(|file| (file, String::new()))),
                }
            }
            outer.sort_unstable();
            outer.dedup();
            outer.truncate(MAX_MODULES);
            places = outer;
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

/// The package whose folder is the nearest one around `path`.
fn nearest_package<'a>(packages: &'a Packages, path: &str) -> Option<&'a Package> {
    let mut dir = folder(path);
    loop {
        if let Some(package) = packages.get(dir) {
            return Some(package);
        }
        if dir.is_empty() {
            return None;
        }
        dir = folder(dir);
    }
}

/// The names that the files of `tree` give to crates, for all files of their crates.
fn crate_names(tree: TreeContext<'_>) -> CrateNames {
    let files = tree.table.files().iter().zip(tree.records);
    let rust_files = files.filter(|(file, _)| file.path.ends_with(".rs"));
    let names_by_path = rust_files.filter_map(|(file, record)| {
        let names: BTreeMap<String, String> = crate_renames(record)
            .map(|(name, path)| (name.to_owned(), path.to_owned()))
            .collect();
        (!names.is_empty()).then(|| (file.path.clone(), names))
    });
    names_by_path.collect()
}

/// The names that a file gives to crates, and the paths of these crates.
fn crate_renames(record: &Option<Arc<Record>>) -> impl Iterator<Item = (&str, &str)> {
    let specifiers = record.as_deref().map_or(&[][..], |record| &record.specifiers);
    let renames = specifiers.iter().filter(|specifier| is_crate_rename(specifier));
    renames.filter_map(|specifier| Some((specifier.text.as_str(), specifier.name.as_deref()?)))
}

/// Whether it is an `extern crate` that gives the crate another name.
fn is_crate_rename(specifier: &Specifier) -> bool {
    let is_crate = |path: &String| path == "crate" || path.strip_prefix("::").is_some_and(|name| !name.contains("::"));
    specifier.kind == ImportKind::Import
        && specifier.name.as_ref().is_some_and(is_crate)
        && !specifier.text.contains("::")
}

fn split_first(path: &str) -> (&str, &str) {
    path.split_once("::").unwrap_or((path, ""))
}

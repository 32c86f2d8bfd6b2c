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
use crate::record::{Record, specifiers_of};
use crate::resolution::Reason;
use crate::resolve::keys::Trace;
use crate::resolve::manifests::same_manifests;
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{around, below, folder, is_within, joined};
use crate::resolve::tree_context::TreeContext;

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
        let mut importer = Importer {
            crates: self,
            table,
            from,
            packages: Vec::new(),
            trace,
        };
        match specifier.kind {
            ImportKind::Module => importer.resolve_mod(specifier),
            ImportKind::Reference => {
                let file = joined(folder(table.path(from)), &specifier.text).ok_or(Reason::OutsideRepository)?;
                let file = table.file(&file, importer.trace).ok_or(Reason::Missing)?;
                Ok(vec![file])
            }
            ImportKind::Import => {
                importer.find_packages();
                let is_2015 = importer.packages.first().is_some_and(|package| package.is_2015);
                match &specifier.name {
                    Some(meaning) if is_crate_rename(specifier) || !is_2015 => importer.resolve_path(meaning),
                    _ if is_2015 => importer.resolve_use_2015(&specifier.text),
                    _ => importer.resolve_path(&specifier.text),
                }
            }
            _ => {
                importer.find_packages();
                importer.resolve_path(&specifier.text)
            }
        }
    }
}

/// The importing file.
struct Importer<'a> {
    crates: &'a Crates,
    table: &'a PathTable,
    from: FileId,
    /// The packages of the crates that contain the file, at most [`MAX_PACKAGES`]. Each has a target with the crate's
    /// root. A file that no crate contains belongs to the nearest package around it.
    packages: Vec<&'a Package>,
    trace: &'a mut Trace,
}

impl Importer<'_> {
    /// Finds the packages of the file.
    fn find_packages(&mut self) {
        let (crates, table) = (self.crates, self.table);
        self.trace.push(declarations_key(table.keys(), table.path(self.from)));
        let roots = crates.modules.node(self.from).map(|node| &node.roots[..]);
        let alone = [self.from];
        for root in roots.filter(|roots| !roots.is_empty()).unwrap_or(&alone) {
            let root = table.path(*root);
            // Each folder around the root may be the folder of its package.
            self.trace.charge_text(root.len() * 4);
            let root_packages = match crates.owners.get(root) {
                Some(owners) => owners.iter().filter_map(|dir| crates.packages.get(dir)).collect(),
                None => Vec::from_iter(nearest_package(&crates.packages, root)),
            };
            for package in root_packages {
                self.trace.charge_list(self.packages.len());
                let is_new = !self.packages.iter().any(|other| std::ptr::eq(*other, package));
                if self.packages.len() < MAX_PACKAGES && is_new {
                    self.packages.push(package);
                }
            }
        }
    }

    fn resolve_mod(&mut self, specifier: &Specifier) -> Result<Vec<FileId>, Reason> {
        let path = self.table.path(self.from);
        self.trace.push(child_key(self.table.keys(), path, &specifier.text));
        match self.crates.modules.child(self.from, &specifier.text) {
            Some(Child::Files(files)) => Ok(files.to_vec()),
            _ => match &specifier.name {
                Some(relative) if joined(folder(path), relative).is_none() => Err(Reason::OutsideRepository),
                _ => Err(Reason::Missing),
            },
        }
    }

    /// The target of a `use` path in edition 2015, which begins at the crate's root.
    fn resolve_use_2015(&mut self, path: &str) -> Result<Vec<FileId>, Reason> {
        if !matches!(split_first(path).0, "crate" | "self" | "super") {
            let path = path.trim_start_matches("::");
            let first = split_first(path).0;
            let roots = self.crate_roots();
            let has_module = roots.iter().any(|root| {
                let key = child_key(self.table.keys(), self.table.path(*root), first);
                self.trace.push(key);
                self.crates.modules.child(*root, first).is_some()
            });
            if has_module || first == "*" {
                return Ok(self.walk(roots, path));
            }
        }
        self.resolve_path(path)
    }

    fn resolve_path(&mut self, path: &str) -> Result<Vec<FileId>, Reason> {
        match split_first(path) {
            ("crate", rest) => {
                let roots = self.crate_roots();
                Ok(self.walk(roots, rest))
            }
            ("self", rest) => Ok(self.walk(vec![self.from], rest)),
            ("super", _) => self.resolve_super(path),
            ("", rest) if !rest.is_empty() => self.resolve_external(rest),
            ("", _) => Err(Reason::Invalid),
            _ => self.resolve_external(path),
        }
    }

    /// The target of a path that begins with the name of a crate.
    fn resolve_external(&mut self, path: &str) -> Result<Vec<FileId>, Reason> {
        let (crates, table) = (self.crates, self.table);
        let (mut name, rest) = split_first(path);
        if !crates.crate_names.is_empty() {
            for root in self.crate_roots() {
                let names = crates.crate_names.get(table.path(root));
                match names.and_then(|names| names.get(name)).map(String::as_str) {
                    Some("crate") => return Ok(self.walk(vec![root], rest)),
                    Some(path) => {
                        name = path.trim_start_matches("::");
                        break;
                    }
                    None => {}
                }
            }
        }
        let packages = self.packages.iter();
        let paths: BTreeSet<&String> = packages.filter_map(|package| package.crates.get(name)).collect();
        if paths.is_empty() {
            return Err(Reason::External);
        }
        let files = paths.into_iter().filter_map(|root| table.file(root, self.trace));
        let roots: Vec<FileId> = files.collect();
        if roots.is_empty() {
            return Err(Reason::NoEntry);
        }
        Ok(self.walk(roots, rest))
    }

    /// The roots of the crates that contain the file. If no module declares the file, this is the nearest `lib.rs` or
    /// `main.rs` in its package that is a root. Without one, it is the library if the file is below the library's
    /// folder, else the file itself.
    fn crate_roots(&mut self) -> Vec<FileId> {
        let (table, file) = (self.table, self.from);
        let path = table.path(file);
        self.trace.push(declarations_key(table.keys(), path));
        if let Some(node) = self.crates.modules.node(file).filter(|node| !node.roots.is_empty()) {
            return node.roots.clone();
        }
        let package = self.packages.first().copied();
        if let Some(package) = package {
            for dir in around(folder(path)).take_while(|dir| is_within(dir, &package.folder)) {
                if self.trace.is_spent() {
                    break;
                }
                for name in ["lib.rs", "main.rs"] {
                    let root = table.file(&below(dir, name), self.trace).filter(|root| *root != file);
                    if let Some(root) = root.filter(|root| self.is_root(*root)) {
                        return vec![root];
                    }
                }
            }
        }
        let lib = package.and_then(|package| package.lib.as_deref());
        let lib = lib.filter(|lib| is_within(path, folder(lib)));
        vec![lib.and_then(|lib| table.file(lib, self.trace)).unwrap_or(file)]
    }

    /// Whether `file` is the root of a crate.
    fn is_root(&mut self, file: FileId) -> bool {
        self.trace
            .push(declarations_key(self.table.keys(), self.table.path(file)));
        let node = self.crates.modules.node(file);
        node.is_some_and(|node| node.roots.contains(&file))
    }

    /// The module around `file` by its path, for a file that no module declares.
    fn outer_module(&mut self, file: FileId) -> Option<FileId> {
        let table = self.table;
        let path = table.path(file);
        let mut dir = folder(path);
        if path.ends_with("/mod.rs") {
            dir = folder(dir);
        }
        let candidates = ["mod.rs", "lib.rs", "main.rs"].map(|name| below(dir, name));
        let mut candidates = std::iter::once(format!("{dir}.rs")).chain(candidates);
        candidates.find_map(|path| table.file(&path, self.trace).filter(|other| *other != file))
    }

    /// The target of a path that begins with `super`.
    fn resolve_super(&mut self, path: &str) -> Result<Vec<FileId>, Reason> {
        let (crates, table) = (self.crates, self.table);
        let mut places = vec![(self.from, String::new())];
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
                self.trace.push(declarations_key(table.keys(), table.path(file)));
                match crates.modules.node(file) {
                    Some(node) if !node.parents.is_empty() || !node.roots.is_empty() => {
                        outer.extend(node.parents.iter().cloned());
                    }
                    _ => outer.extend(self.outer_module(file).map(|file| (file, String::new()))),
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
        Ok(self.walk_from(places, rest))
    }

    fn walk(&mut self, modules: Vec<FileId>, path: &str) -> Vec<FileId> {
        let places = modules.into_iter().map(|file| (file, String::new())).collect();
        self.walk_from(places, path)
    }

    /// The files of the deepest modules along `path`. Each place is a file and an inline module in it.
    fn walk_from(&mut self, mut places: Vec<(FileId, String)>, path: &str) -> Vec<FileId> {
        let (crates, table) = (self.crates, self.table);
        let mut reached = Vec::new();
        for name in path.split("::").filter(|name| !name.is_empty() && *name != "*") {
            let mut next = Vec::new();
            for (file, inline) in places {
                let name = format!("{inline}{name}");
                self.trace.charge_text(name.len() + table.path(file).len());
                self.trace.push(child_key(table.keys(), table.path(file), &name));
                match crates.modules.child(file, &name) {
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
    around(folder(path)).find_map(|dir| packages.get(dir))
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
    let specifiers = specifiers_of(record.as_deref());
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

//! Go: package paths -> the files of the package.
//!
//! The nearest `go.mod` names a file's module. The file sees the packages of this module, and of folders that
//! `replace` substitutes for modules. It also sees the modules of a `go.work` that uses its module. The longest module
//! path counts first. A package in none of them may be in a `vendor` folder.
//!
//! An import leads to every file of the package, except its tests and files that no build includes. The files of one
//! package use each other without an import, and have no edges for it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use coord_scan::{ImportKind, Specifier};

use crate::file::FileId;
use crate::record::Record;
use crate::resolution::Reason;
use crate::resolve::keys::{KeySpace, Trace};
use crate::resolve::manifests::go_mod::GoManifest;
use crate::resolve::manifests::{Manifests, ParsedManifest, same_manifests};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{around, folder, joined};
use crate::resolve::tree_context::TreeContext;

/// Path of a module -> the folder of its packages.
type Folders = HashMap<String, String>;

/// A module, and the other modules that it sees.
#[derive(Debug, Default, PartialEq)]
struct Module {
    path: String,
    /// Itself, and the modules that it replaces.
    own: Folders,
    /// The folder of the workspace that uses it, and the modules of that workspace.
    workspace: Option<(String, Arc<Folders>)>,
}

impl Module {
    /// The folders that may contain the package `path`, those of the longest module path first.
    fn folders<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let ends = path.rmatch_indices('/').map(|(at, _)| at);
        std::iter::once(path.len()).chain(ends).flat_map(move |end| {
            let (prefix, inside) = path.split_at(end);
            let shared = self.workspace.as_ref().and_then(|(_, folders)| folders.get(prefix));
            let folders = self.own.get(prefix).into_iter().chain(shared);
            folders.map(move |folder| (folder.as_str(), inside))
        })
    }
}

/// The modules and packages of one tree.
#[derive(Debug, Default)]
pub(crate) struct GoModules {
    modules: BTreeMap<String, Module>,
    /// The folder of the standard library's module, where the tree contains it.
    standard: Option<String>,
    /// Folder -> the files that an import of it leads to.
    packages: HashMap<String, Vec<FileId>>,
}

impl GoModules {
    pub(crate) fn new(tree: TreeContext<'_>) -> Self {
        let modules = modules(tree.manifests);
        let mut packages: HashMap<String, Vec<FileId>> = HashMap::new();
        for (id, file) in (0..).zip(tree.table.files().iter()) {
            let record = tree.records.get(id as usize).and_then(Option::as_deref);
            if is_importable(&file.path) && !record.is_some_and(is_ignored) {
                let package = packages.entry(folder(&file.path).to_owned()).or_default();
                package.push(id);
            }
        }
        let standard = modules.iter().find(|(_, module)| module.path == "std");
        GoModules {
            standard: standard.map(|(folder, _)| folder.clone()),
            modules,
            packages,
        }
    }

    /// Whether two versions of a tree, with the same paths, certainly have the same modules and packages.
    pub(crate) fn are_same(one: TreeContext<'_>, other: TreeContext<'_>) -> bool {
        let is_same = |(one, other): (&Option<Arc<Record>>, &Option<Arc<Record>>)| match (one, other) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other) || is_ignored(one) == is_ignored(other),
            (one, other) => !one.as_deref().is_some_and(is_ignored) && !other.as_deref().is_some_and(is_ignored),
        };
        same_manifests(one.manifests, other.manifests) && one.records.iter().zip(other.records).all(is_same)
    }

    /// Whether [`Self::changed_keys`] covers every difference.
    pub(crate) fn has_same_modules(&self, older: &Self) -> bool {
        self.modules == older.modules
    }

    /// The keys of lookups whose results differ from `older`'s.
    pub(crate) fn changed_keys(
        &self,
        table: &PathTable,
        older: &Self,
        older_table: &PathTable,
        sink: &mut impl FnMut(u32),
    ) {
        for (mine, mine_table, theirs, theirs_table) in
            [(self, table, older, older_table), (older, older_table, self, table)]
        {
            for (folder, files) in &mine.packages {
                let is_same = theirs.packages.get(folder).is_some_and(|others| {
                    let pairs = || files.iter().zip(others);
                    files.len() == others.len()
                        && pairs().all(|(one, other)| mine_table.path(*one) == theirs_table.path(*other))
                });
                if !is_same {
                    sink(table.keys().of_named(KeySpace::GoPackages, folder));
                }
            }
        }
    }

    /// The target of `specifier` in the file `from`.
    pub(crate) fn resolve(
        &self,
        table: &PathTable,
        from: FileId,
        specifier: &Specifier,
        trace: &mut Trace,
    ) -> Result<Cow<'_, [FileId]>, Reason> {
        if specifier.kind == ImportKind::Constraint {
            // The constraint concerns the file itself.
            return Ok(Cow::Owned(vec![from]));
        }
        let path = specifier.text.as_str();
        if path.is_empty() || path.starts_with('/') || path.ends_with('/') || path.contains("//") {
            return Err(Reason::Invalid);
        }
        let here = folder(table.path(from));
        // Each folder of the path, and each around the file, may be that of a module.
        let folders = memchr::memchr_iter(b'/', path.as_bytes()).count();
        trace.charge(folders * (1 + path.len() / 64));
        trace.charge_text(here.len() * 4);
        if path.starts_with("./") || path.starts_with("../") {
            let folder = joined(here, path).ok_or(Reason::OutsideRepository)?;
            return self.package(table, &folder, trace).ok_or(Reason::Missing);
        }
        if path.split('/').any(|part| matches!(part, "." | "..")) {
            return Err(Reason::Invalid);
        }
        let nearest = self.module_folder(here);
        let module = nearest.and_then(|folder| self.modules.get(folder));
        let mut is_in_module = false;
        for (folder, inside) in module.iter().flat_map(|module| module.folders(path)) {
            is_in_module = true;
            if let Some(dir) = joined(folder, inside)
                // A folder of a nested module belongs to that module.
                && self.module_folder(&dir).is_none_or(|nearest| nearest.len() <= folder.len())
                && let Some(files) = self.package(table, &dir, trace)
            {
                return Ok(files);
            }
        }
        let standard = self
            .standard
            .iter()
            .filter(|_| module.is_some_and(|module| matches!(module.path.as_str(), "std" | "cmd")));
        let shared = module.and_then(|module| module.workspace.as_ref());
        let roots = nearest.into_iter().chain(shared.map(|(folder, _)| folder.as_str()));
        let vendored = roots.filter_map(|dir| joined(dir, &format!("vendor/{path}")));
        for dir in vendored.chain(standard.filter_map(|dir| joined(dir, path))) {
            if let Some(files) = self.package(table, &dir, trace) {
                return Ok(files);
            }
        }
        Err(if is_in_module {
            Reason::Missing
        } else {
            Reason::External
        })
    }

    fn package(&self, table: &PathTable, folder: &str, trace: &mut Trace) -> Option<Cow<'_, [FileId]>> {
        trace.push(table.keys().of_named(KeySpace::GoPackages, folder));
        self.packages.get(folder).map(|files| Cow::Borrowed(files.as_slice()))
    }

    /// The folder of the module that contains `dir`.
    fn module_folder<'a>(&self, dir: &'a str) -> Option<&'a str> {
        around(dir).find(|dir| self.modules.contains_key(*dir))
    }
}

fn modules(manifests: &Manifests) -> BTreeMap<String, Module> {
    let mut modules = BTreeMap::new();
    for (path, parsed) in manifests {
        if let ParsedManifest::GoModule(manifest) = &**parsed {
            let here = folder(path);
            let mut own = replacements(here, manifest);
            if let Some(path) = &manifest.module {
                own.insert(path.clone(), here.to_owned());
            }
            let module = Module {
                path: manifest.module.clone().unwrap_or_default(),
                own,
                workspace: None,
            };
            modules.insert(here.to_owned(), module);
        }
    }
    // In path order, so that an inner workspace overrides the one around it.
    for (path, parsed) in manifests {
        let ParsedManifest::GoWorkspace(workspace) = &**parsed else {
            continue;
        };
        let here = folder(path);
        let mut shared = replacements(here, workspace);
        let members: Vec<String> = workspace.uses.iter().filter_map(|path| joined(here, path)).collect();
        for folder in &members {
            if let Some(module) = modules.get(folder) {
                shared.insert(module.path.clone(), folder.clone());
            }
        }
        let shared = Arc::new(shared);
        for folder in members {
            if let Some(module) = modules.get_mut(&folder) {
                module.workspace = Some((here.to_owned(), Arc::clone(&shared)));
            }
        }
    }
    modules
}

/// The modules that `manifest` replaces with folders.
fn replacements(here: &str, manifest: &GoManifest) -> Folders {
    let local = |(path, target): &(String, String)| Some((path.clone(), joined(here, target)?));
    manifest.replaces.iter().filter_map(local).collect()
}

/// Whether, by its name, a file belongs to the package that an import of its folder means.
fn is_importable(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.ends_with(".go") && !name.ends_with("_test.go") && !name.starts_with(['_', '.'])
}

fn is_ignored(record: &Record) -> bool {
    // The constraint precedes every import.
    record
        .specifiers
        .first()
        .is_some_and(|first| first.kind == ImportKind::Constraint)
}

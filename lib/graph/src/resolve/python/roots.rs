//! The folders for the lookup of absolute Python names: source roots, packages and namespaces.

use std::collections::{HashMap, HashSet};

use hashbrown::HashTable;

use crate::file::FileId;
use crate::resolve::extension::Extension;
use crate::resolve::keys::{KeySpace, Keys, Trace};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{below, folder};
use crate::resolve::read_tree::ReadTree;

pub(super) const MODULE: &[Extension] = &[Extension::Py, Extension::Pyi];

/// A folder with Python files, directly or further below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    /// A file below it, whose path begins with the folder's.
    pub(super) witness: FileId,
    pub(super) length: u32,
    pub(super) is_package: bool,
    /// Length of the path of the deepest folder, itself included, that a module of the same name hides, plus one; 0 for
    /// none.
    pub(super) hidden: u32,
}

/// The roots of Python names in one tree.
#[derive(Debug)]
pub(crate) struct PythonRoots {
    pub(super) folders: HashTable<Folder>,
    pub(super) keys: Keys,
    /// Folders that contain a package, but are neither packages nor namespaces below a source root.
    pub(super) package_parents: HashSet<String>,
    /// The source roots: those of `shared` that are not packages, without the repository root.
    pub(super) sources: HashSet<String>,
    /// Folders of projects below a source root.
    pub(super) projects: HashSet<String>,
    /// Namespaces below a source root that contain a package.
    pub(super) namespaces: HashSet<String>,
    /// The files in folders of scripts below a source root.
    pub(super) scripts: Vec<FileId>,
    /// The folders of such files that are namespaces, because their modules are imported by their full names.
    pub(super) imported: HashSet<String>,
    /// The repository root, `src` folders and folders named by a `pyproject.toml`, in the order of lookup.
    pub(super) shared: HashMap<String, u32>,
    /// Top-level name -> the roots that have it, in order.
    pub(super) tops: HashMap<String, Vec<String>>,
}

impl PythonRoots {
    /// `declared` are the package folders that manifests name.
    pub(crate) fn new(tree: ReadTree<'_>, declared: &[String]) -> Self {
        let table = tree.table;
        let keys = table.keys().clone();
        let mut roots = PythonRoots {
            folders: HashTable::new(),
            keys,
            package_parents: HashSet::new(),
            sources: HashSet::new(),
            projects: HashSet::new(),
            namespaces: HashSet::new(),
            scripts: Vec::new(),
            imported: HashSet::new(),
            shared: HashMap::new(),
            tops: HashMap::new(),
        };
        let python: Vec<FileId> = table.all_paths().filter(|id| is_python(table.path(*id))).collect();
        for id in &python {
            roots.add_folders(table, *id);
        }
        roots.find_roots(table, declared);
        roots.find_tops(table, &python);
        roots.scripts = roots.find_scripts(table, &python);
        roots.imported = roots.imported_folders(tree);
        roots
    }

    pub(super) fn add_folders(&mut self, table: &PathTable, witness: FileId) {
        let path = table.path(witness);
        let mut missing = Vec::new();
        let mut dir = folder(path);
        let mut hidden = 0;
        while !dir.is_empty() {
            if let Some(known) = self.folder_at(table, dir) {
                hidden = known.hidden;
                break;
            }
            missing.push(dir);
            dir = folder(dir);
        }
        for dir in missing.into_iter().rev() {
            let is_package = table
                .siblings_untraced(&format!("{dir}/__init__"))
                .is_some_and(|files| files.first(MODULE).is_some());
            let is_hidden = !is_package
                && table
                    .siblings_untraced(dir)
                    .is_some_and(|files| files.first(MODULE).is_some());
            if is_hidden {
                hidden = dir.len() as u32 + 1;
            }
            let found = Folder {
                witness,
                length: dir.len() as u32,
                is_package,
                hidden,
            };
            let keys = &self.keys;
            self.folders
                .insert_unique(keys.hash(dir), found, |other| keys.hash(text_of(table, *other)));
        }
    }

    pub(super) fn folder_at(&self, table: &PathTable, dir: &str) -> Option<Folder> {
        self.folders
            .find(self.keys.hash(dir), |folder| text_of(table, *folder) == dir)
            .copied()
    }

    pub(super) fn traced_folder(&self, table: &PathTable, dir: &str, trace: &mut Trace) -> Option<Folder> {
        trace.push(self.keys.of(dir));
        trace.charge_text(dir.len());
        self.folder_at(table, dir)
    }

    pub(super) fn find_roots(&mut self, table: &PathTable, declared: &[String]) {
        let dirs = || {
            self.folders
                .iter()
                .map(|found| (text_of(table, *found), found.is_package))
        };
        let mut sources: Vec<String> = dirs()
            .filter(|(dir, _)| *dir == "src" || dir.ends_with("/src"))
            .map(|(dir, _)| dir.to_owned())
            .collect();
        sources.sort_unstable();
        let mut shared = HashMap::from([(String::new(), 0)]);
        for dir in sources.iter().chain(declared) {
            let rank = shared.len() as u32;
            shared.entry(dir.clone()).or_insert(rank);
        }
        let is_package = |dir: &str| self.folder_at(table, dir).is_some_and(|folder| folder.is_package);
        let sources = shared.keys().filter(|dir| !dir.is_empty() && !is_package(dir));
        self.sources = sources.cloned().collect();
        self.shared = shared;
        let is_below_source = |dir: &str| !dir.is_empty() && self.source_above(dir).is_some();
        let parents = dirs().filter(|(_, is_package)| *is_package).map(|(dir, _)| folder(dir));
        let parents: HashSet<&str> = parents
            .filter(|parent| !self.folder_at(table, parent).is_some_and(|parent| parent.is_package))
            .collect();
        let projects: HashSet<String> = dirs()
            .filter(|(dir, is_package)| !is_package && is_below_source(dir) && is_project(table, dir))
            .map(|(dir, _)| dir.to_owned())
            .collect();
        let (namespaces, roots): (HashSet<&str>, HashSet<&str>) = parents.into_iter().partition(|parent| {
            !self.shared.contains_key(*parent) && !projects.contains(*parent) && is_below_source(parent)
        });
        self.package_parents = roots.into_iter().map(str::to_owned).collect();
        self.namespaces = namespaces.into_iter().map(str::to_owned).collect();
        self.projects = projects;
    }

    /// The nearest source root above `dir`. The repository root does not count: everything is below it.
    pub(super) fn source_above<'a>(&self, dir: &'a str) -> Option<&'a str> {
        let mut above = folder(dir);
        while !above.is_empty() {
            if self.sources.contains(above) {
                return Some(above);
            }
            above = folder(above);
        }
        None
    }

    pub(super) fn find_tops(&mut self, table: &PathTable, python: &[FileId]) {
        let mut tops: HashMap<String, Vec<String>> = HashMap::new();
        let mut add = |parent: &str, path: &str| {
            if self.shared.contains_key(parent) || self.package_parents.contains(parent) {
                let name = path.rsplit('/').next().unwrap_or(path);
                tops.entry(name.to_owned()).or_default().push(parent.to_owned());
            }
        };
        for id in python {
            let path = table.path(*id);
            if let Some((stem, _)) = Extension::split(path) {
                add(folder(path), stem);
            }
        }
        for found in &self.folders {
            let dir = text_of(table, *found);
            add(folder(dir), dir);
        }
        for roots in tops.values_mut() {
            roots.sort_unstable_by(|one, other| self.rank(one).cmp(&self.rank(other)));
            roots.dedup();
        }
        self.tops = tops;
    }

    /// Shared roots in their order, then the others by path.
    pub(super) fn rank<'a>(&self, root: &'a str) -> (u32, &'a str) {
        (self.shared.get(root).copied().unwrap_or(u32::MAX), root)
    }

    /// The keys of lookups whose results differ between this tree's roots and the `older` ones.
    pub(crate) fn changed_keys(
        &self,
        table: &PathTable,
        older: &Self,
        older_table: &PathTable,
        sink: &mut impl FnMut(u32),
    ) {
        let meaning = |found: Folder| (found.is_package, found.hidden);
        for (mine, mine_table, theirs, theirs_table) in
            [(self, table, older, older_table), (older, older_table, self, table)]
        {
            for found in &mine.folders {
                let dir = text_of(mine_table, *found);
                if theirs.folder_at(theirs_table, dir).map(meaning) != Some(meaning(*found)) {
                    sink(self.keys.of(dir));
                }
            }
            for dir in mine.imported.difference(&theirs.imported) {
                sink(self.keys.of(dir));
            }
            for (name, roots) in &mine.tops {
                if theirs.tops.get(name) != Some(roots) {
                    sink(self.keys.of_named(KeySpace::PythonTopNames, name));
                }
            }
        }
    }

    /// Whether a tree with the same paths and the same declared folders certainly has the same roots.
    pub(crate) fn are_those_of(&self, tree: ReadTree<'_>) -> bool {
        self.imported == self.imported_folders(tree)
    }

    /// Whether every root is also one of `older`, so that [`Self::changed_keys`] covers every difference.
    pub(crate) fn has_same_roots(&self, older: &Self) -> bool {
        self.shared == older.shared
            && self.package_parents == older.package_parents
            && self.sources == older.sources
            && self.projects == older.projects
            && self.namespaces == older.namespaces
    }

    /// The nearest folder of `dir` that is neither a package nor a namespace below a source root.
    pub(super) fn own_root<'a>(&self, table: &PathTable, dir: &'a str, trace: &mut Trace) -> &'a str {
        let mut root = dir;
        while !root.is_empty()
            && self
                .traced_folder(table, root, trace)
                .is_some_and(|folder| folder.is_package)
        {
            root = folder(root);
        }
        if self.shared.contains_key(root) {
            return root;
        }
        let Some(source) = self.source_above(root) else {
            return root;
        };
        let is_namespace = self.namespaces.contains(root) || self.imported.contains(root);
        let mut is_of_scripts = root == dir && !is_namespace;
        let mut above = root;
        while above.len() > source.len() && !trace.is_spent() {
            // A project in between is nearer.
            if self.projects.contains(above) {
                return above;
            }
            above = folder(above);
            is_of_scripts &= !self
                .traced_folder(table, above, trace)
                .is_some_and(|folder| folder.is_package);
        }
        if is_of_scripts { root } else { source }
    }
}

pub(super) fn text_of(table: &PathTable, folder: Folder) -> &str {
    table.path(folder.witness).get(..folder.length as usize).unwrap_or("")
}

/// Files at the root of a project: the project is run or installed from there.
const PROJECT_FILES: [&str; 7] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "manage.py",
    "Dockerfile",
];

pub(super) fn is_project(table: &PathTable, dir: &str) -> bool {
    PROJECT_FILES
        .iter()
        .any(|name| table.file_untraced(&below(dir, name)).is_some())
}

pub(super) fn is_python(path: &str) -> bool {
    path.ends_with(".py") || path.ends_with(".pyi")
}

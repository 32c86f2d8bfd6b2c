//! The folders in which absolute Python names are looked up: source roots, packages and namespaces.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use coord_scan::Specifier;
use hashbrown::HashTable;

use crate::file::FileId;
use crate::record::specifiers_of;
use crate::resolve::extension::Extension;
use crate::resolve::keys::{KeySpace, Keys, Trace};
use crate::resolve::manifests::glob::{Stop, matches};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{around, below, folder, is_within};
use crate::resolve::projects::python_layout::PythonLayout;
use crate::resolve::tree_context::TreeContext;

const MODULE: &[Extension] = &[Extension::Py, Extension::Pyi];

/// A folder with Python files, directly or further below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Folder {
    /// A file below it, whose path begins with the folder's.
    pub(super) witness: FileId,
    pub(super) length: u32,
    pub(super) is_package: bool,
    /// The path length, plus one, of the deepest folder that a module with the same name hides: this folder or one
    /// above it. 0 if there is none.
    pub(super) hidden: u32,
}

/// A folder on Python's path for the whole repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SharedFolder {
    /// Its position in the order of lookup.
    pub(super) rank: u32,
    /// The folder of its project. Files below it see this root before those of other projects.
    pub(super) owner: String,
}

/// The roots of Python names in one tree.
#[derive(Debug)]
pub(crate) struct PythonRoots {
    pub(super) folders: HashTable<Folder>,
    pub(super) keys: Keys,
    pub(super) kinds: RootKinds,
    /// Folder without `__init__` below a source root -> the folder where its names begin, itself or a folder above.
    pub(super) homes: HashMap<String, String>,
    /// First components of the names of candidates for `homes`. Imports of other names decide nothing about `homes`.
    pub(super) first_names: HashSet<String>,
    /// Folders of packages whose `__init__` adds the same package in other roots to its path.
    pub(super) extended: HashSet<String>,
    /// Top-level name -> the roots that have it, in order.
    pub(super) tops: HashMap<String, Vec<String>>,
}

/// Folders by the way in which files see their names.
#[derive(Debug, Default, PartialEq)]
pub(super) struct RootKinds {
    /// The repository root, `src` folders, and folders that manifests declare.
    pub(super) shared: HashMap<String, SharedFolder>,
    /// The source roots: the folders in `shared` that are not packages, without the repository root.
    pub(super) sources: HashSet<String>,
    /// Folders of projects below a source root.
    pub(super) projects: HashSet<String>,
    /// Folders that contain a package, but are neither packages nor namespaces below a source root.
    pub(super) package_parents: HashSet<String>,
    /// Folders that are roots for the files below them.
    pub(super) local: HashSet<String>,
    /// Roots below a source root, and projects whose packages are in their own folder -> the folder of their project.
    /// Every file sees a name in them, if all that have it lead to the same file.
    pub(super) installed: BTreeMap<String, String>,
    /// Projects whose packages are in their own folder. Names of tests and tools there are not installed.
    pub(super) flat: HashSet<String>,
    /// Name of a package -> its folders, if their own names differ from it.
    pub(super) packages: BTreeMap<String, BTreeSet<String>>,
    /// Folder of a project -> the folders of projects in the repository that it requires.
    pub(super) required: BTreeMap<String, BTreeSet<String>>,
}

impl PythonRoots {
    /// The roots of `tree`. `declared` is the layout that its manifests declare.
    pub(crate) fn new(tree: TreeContext<'_>, declared: &PythonLayout) -> Self {
        let table = tree.table;
        let mut roots = PythonRoots {
            folders: HashTable::new(),
            keys: table.keys().clone(),
            kinds: RootKinds::default(),
            homes: HashMap::new(),
            first_names: HashSet::new(),
            extended: HashSet::new(),
            tops: HashMap::new(),
        };
        let python: Vec<FileId> = table.all_paths().filter(|id| is_python(table.path(*id))).collect();
        for id in &python {
            roots.add_folders(table, *id);
        }
        roots.find_sources(table, declared);
        roots.find_homes(tree, &python);
        roots.find_roots(table, declared, &python);
        roots.find_tops(table, &python);
        roots.extended = extended_packages(tree);
        roots
    }

    pub(super) fn add_folders(&mut self, table: &PathTable, witness: FileId) {
        let path = table.path(witness);
        let mut missing = Vec::new();
        let mut dir = folder(path);
        let mut hidden = 0;
        while !dir.is_empty() {
            if let Some(folder) = self.folder_at(table, dir) {
                hidden = folder.hidden;
                break;
            }
            missing.push(dir);
            dir = folder(dir);
        }
        for dir in missing.into_iter().rev() {
            let is_package = module_untraced(table, &format!("{dir}/__init__")).is_some();
            if !is_package && module_untraced(table, dir).is_some() {
                hidden = dir.len() as u32 + 1;
            }
            let folder = Folder {
                witness,
                length: dir.len() as u32,
                is_package,
                hidden,
            };
            let keys = &self.keys;
            self.folders
                .insert_unique(keys.hash(dir), folder, |other| keys.hash(folder_path(table, *other)));
        }
    }

    pub(super) fn folder_at(&self, table: &PathTable, dir: &str) -> Option<Folder> {
        self.folders
            .find(self.keys.hash(dir), |folder| folder_path(table, *folder) == dir)
            .copied()
    }

    /// Whether `dir` is a package.
    pub(super) fn is_package(&self, table: &PathTable, dir: &str) -> bool {
        self.folder_at(table, dir).is_some_and(|folder| folder.is_package)
    }

    pub(super) fn traced_folder(&self, table: &PathTable, dir: &str, trace: &mut Trace) -> Option<Folder> {
        trace.push(self.keys.of(dir));
        trace.charge_text(dir.len());
        self.folder_at(table, dir)
    }

    /// Finds the shared roots, the source roots, and the projects below these.
    fn find_sources(&mut self, table: &PathTable, declared: &PythonLayout) {
        let dirs = || self.folders.iter().map(|folder| folder_path(table, *folder));
        let mut shared = HashMap::new();
        let mut add = |dir: &str, owner: &str| {
            let rank = shared.len() as u32;
            let owner = owner.to_owned();
            shared.entry(dir.to_owned()).or_insert(SharedFolder { rank, owner });
        };
        add("", "");
        let mut src_dirs: Vec<&str> = dirs().filter(|dir| *dir == "src" || dir.ends_with("/src")).collect();
        src_dirs.sort_unstable();
        for dir in src_dirs {
            add(dir, folder(dir));
        }
        let mut declared_dirs = declared.roots.clone();
        for dir in dirs() {
            if let Some(owner) = pattern_owner(table, declared, dir) {
                declared_dirs.insert(dir.to_owned(), owner.to_owned());
            }
        }
        for (dir, owner) in &declared_dirs {
            // A manifest may declare a folder outside its own.
            let owner = if is_within(dir, owner) { owner } else { folder(dir) };
            add(dir, owner);
        }
        let sources = shared
            .keys()
            .filter(|dir| !dir.is_empty() && !self.is_package(table, dir));
        self.kinds.sources = sources.cloned().collect();
        // If a project has a folder `src`, its packages are there.
        let is_flat = |dir: &&String| !shared.contains_key(*dir) && !shared.contains_key(&below(dir, "src"));
        self.kinds.flat = declared.flat.iter().filter(is_flat).cloned().collect();
        self.kinds.shared = shared;
        let projects = self.folders.iter().filter(|folder| !folder.is_package);
        let projects = projects.map(|folder| folder_path(table, *folder));
        let projects = projects.filter(|dir| self.source_above(dir).is_some() && is_project(table, dir));
        self.kinds.projects = projects.map(str::to_owned).collect();
    }

    /// The nearest source root above `dir`. The repository root does not count: everything is below it.
    pub(super) fn source_above<'a>(&self, dir: &'a str) -> Option<&'a str> {
        source_above(&self.kinds.sources, dir)
    }

    /// Finds the other roots. `homes` must be known, because it tells namespaces below source roots from roots.
    fn find_roots(&mut self, table: &PathTable, declared: &PythonLayout, python: &[FileId]) {
        let mut kinds = std::mem::take(&mut self.kinds);
        for package in self.folders.iter().filter(|folder| folder.is_package) {
            let parent = folder(folder_path(table, *package));
            if self.is_package(table, parent) {
                continue;
            }
            let home = self.homes.get(parent);
            let is_root_below = home.map_or(kinds.projects.contains(parent), |home| home == parent);
            if is_root_below {
                kinds.installed.insert(parent.to_owned(), String::new());
            }
            let is_elsewhere = home.is_none() && source_above(&kinds.sources, parent).is_none();
            if is_root_below || is_elsewhere || kinds.shared.contains_key(parent) {
                kinds.package_parents.insert(parent.to_owned());
            }
        }
        for (dir, home) in &self.homes {
            if dir != home && !kinds.shared.contains_key(home) && !kinds.projects.contains(home) {
                kinds.installed.insert(home.clone(), String::new());
                kinds.package_parents.insert(home.clone());
            }
        }
        for (dir, owner) in &mut kinds.installed {
            let source = source_above(&kinds.sources, dir);
            source.map_or("", folder).clone_into(owner);
        }
        let flat = kinds.flat.iter().map(|dir| (dir.clone(), dir.clone()));
        kinds.installed.extend(flat);
        kinds.local.extend(declared.local.iter().cloned());
        let paths = python.iter().map(|id| table.path(*id));
        let test_dirs = paths.filter_map(|path| path.strip_suffix("/conftest.py"));
        let test_roots = test_dirs.filter(|dir| !self.is_package(table, dir));
        kinds.local.extend(test_roots.map(str::to_owned));
        kinds.packages.clone_from(&declared.packages);
        kinds.required.clone_from(&declared.required);
        self.kinds = kinds;
    }

    fn find_tops(&mut self, table: &PathTable, python: &[FileId]) {
        let mut tops: HashMap<String, Vec<String>> = HashMap::new();
        let kinds = &self.kinds;
        let mut add = |parent: &str, path: &str| {
            if kinds.shared.contains_key(parent)
                || kinds.package_parents.contains(parent)
                || kinds.installed.contains_key(parent)
            {
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
        for python_folder in &self.folders {
            let dir = folder_path(table, *python_folder);
            add(folder(dir), dir);
        }
        for roots in tops.values_mut() {
            roots.sort_unstable_by(|one, other| self.rank(one).cmp(&self.rank(other)));
            roots.dedup();
        }
        self.tops = tops;
    }

    /// Shared roots in their order, then the others by path.
    fn rank<'a>(&self, root: &'a str) -> (u32, &'a str) {
        let shared = self.kinds.shared.get(root);
        (shared.map_or(u32::MAX, |shared| shared.rank), root)
    }

    /// The keys of lookups whose results differ between this tree's roots and the `older` ones.
    pub(crate) fn changed_keys(
        &self,
        table: &PathTable,
        older: &Self,
        older_table: &PathTable,
        sink: &mut impl FnMut(u32),
    ) {
        let meaning = |folder: Folder| (folder.is_package, folder.hidden);
        for (mine, mine_table, theirs, theirs_table) in
            [(self, table, older, older_table), (older, older_table, self, table)]
        {
            for folder in &mine.folders {
                let dir = folder_path(mine_table, *folder);
                if theirs.folder_at(theirs_table, dir).map(meaning) != Some(meaning(*folder)) {
                    sink(self.keys.of(dir));
                }
            }
            for (dir, home) in &mine.homes {
                if theirs.homes.get(dir) != Some(home) {
                    sink(self.keys.of(dir));
                }
            }
            for dir in mine.extended.difference(&theirs.extended) {
                sink(self.keys.of(dir));
            }
            for (name, roots) in &mine.tops {
                if theirs.tops.get(name) != Some(roots) {
                    sink(self.keys.of_named(KeySpace::PythonTopNames, name));
                }
            }
        }
    }

    /// Whether `tree` certainly has these roots, which are those of `older`. Both trees have the same paths and
    /// declared folders.
    pub(crate) fn is_unchanged(&self, tree: TreeContext<'_>, older: TreeContext<'_>) -> bool {
        let mut records = tree.table.files().iter().zip(tree.records.iter().zip(older.records));
        records.all(|(file, pair)| match pair {
            (Some(one), Some(other)) if Arc::ptr_eq(one, other) => true,
            (None, None) => true,
            _ if !is_python(&file.path) => true,
            (one, other) => {
                let (one, other) = (specifiers_of(one.as_deref()), specifiers_of(other.as_deref()));
                self.deciding_imports(one).eq(self.deciding_imports(other))
                    && (!is_init(&file.path) || extends_path(one) == extends_path(other))
            }
        })
    }

    /// Whether every root is also one of `older`, so that [`Self::changed_keys`] covers every difference.
    pub(crate) fn has_same_roots(&self, older: &Self) -> bool {
        self.kinds == older.kinds
    }

    /// The folder where names of files in `dir` begin: the nearest folder that is neither a package nor a namespace
    /// below a source root.
    pub(super) fn own_root<'a>(&'a self, table: &PathTable, dir: &'a str, trace: &mut Trace) -> &'a str {
        let is_package = |dir: &str, trace: &mut Trace| {
            let folder = self.traced_folder(table, dir, trace);
            folder.is_some_and(|folder| folder.is_package)
        };
        let mut root = dir;
        loop {
            while !root.is_empty() && is_package(root, trace) {
                root = folder(root);
            }
            if self.kinds.shared.contains_key(root) {
                return root;
            }
            if let Some(home) = self.homes.get(root) {
                return home;
            }
            let Some(base) = self.base_above(root) else { return root };
            // A folder in a package has the root of the package.
            while root.len() > base.len() && !trace.is_spent() && !is_package(root, trace) {
                root = folder(root);
            }
            if root.len() <= base.len() || trace.is_spent() {
                return base;
            }
        }
    }

    /// The nearest project or source root of `dir`, itself included. `None` if no source root is above `dir`.
    pub(super) fn base_above<'a>(&self, dir: &'a str) -> Option<&'a str> {
        self.source_above(dir)?;
        around(dir).find(|above| self.kinds.projects.contains(*above) || self.kinds.sources.contains(*above))
    }
}

fn source_above<'a>(sources: &HashSet<String>, dir: &'a str) -> Option<&'a str> {
    let mut above = around(folder(dir)).take_while(|above| !above.is_empty() && !sources.is_empty());
    above.find(|above| sources.contains(*above))
}

/// The folder of the manifest whose patterns or markers make `dir` a source root.
fn pattern_owner<'a>(table: &PathTable, declared: &'a PythonLayout, dir: &str) -> Option<&'a str> {
    let relative_to = |owner: &str| {
        let rest = is_within(dir, owner).then(|| dir.get(owner.len()..))?;
        rest.map(|rest| rest.trim_start_matches('/'))
    };
    let by_pattern = declared.patterns.iter().find(|(owner, pattern)| {
        let Some(relative) = relative_to(owner).filter(|relative| !relative.is_empty()) else {
            return false;
        };
        match pattern.strip_prefix('/') {
            Some(whole) => matches(whole, relative, Stop::AtEnd),
            None => matches(&format!("**/{pattern}"), relative, Stop::AtEnd),
        }
    });
    let by_marker = || {
        let mut markers = declared.markers.iter();
        markers.find(|(owner, name)| is_within(dir, owner) && table.file_untraced(&below(dir, name)).is_some())
    };
    by_pattern.or_else(by_marker).map(|(owner, _)| owner.as_str())
}

/// The folders of packages whose `__init__` adds the same package in other roots to its path.
fn extended_packages(tree: TreeContext<'_>) -> HashSet<String> {
    let files = tree.table.files().iter().zip(tree.records);
    let packages = files.filter(|(file, record)| is_init(&file.path) && extends_path(specifiers_of(record.as_deref())));
    packages.map(|(file, _)| folder(&file.path).to_owned()).collect()
}

/// Whether an `__init__` with these imports may extend the path of its package, with `pkgutil` or `pkg_resources`.
fn extends_path(imports: &[Specifier]) -> bool {
    let can_extend = |import: &Specifier| matches!(import.text.as_str(), "pkgutil" | "pkg_resources");
    imports.iter().any(can_extend)
}

fn is_init(path: &str) -> bool {
    path.ends_with("/__init__.py")
}

/// The module at `path`, without its extension.
pub(super) fn module_at(table: &PathTable, path: &str, trace: &mut Trace) -> Option<FileId> {
    table.siblings(path, trace)?.first(MODULE)
}

/// [`module_at`] for lookups that other keys trace.
pub(super) fn module_untraced(table: &PathTable, path: &str) -> Option<FileId> {
    table.siblings_untraced(path)?.first(MODULE)
}

pub(super) fn folder_path(table: &PathTable, folder: Folder) -> &str {
    table.path(folder.witness).get(..folder.length as usize).unwrap_or("")
}

/// Files at the root of a project, where people run or install it.
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

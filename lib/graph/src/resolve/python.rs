//! Python: module names -> files.
//!
//! A file's own root is its nearest folder that is no package. An absolute name is looked for at the own root, at
//! enclosing folders that hold packages, at the repository root, in every `src` folder, in folders that a
//! `pyproject.toml` names, and last at other folders that hold packages, if they are under the same top folder and all
//! agree on one file.
//!
//! Below a source root (`src`, or what a `pyproject.toml` names) a folder without `__init__` is a namespace and no root: its
//! modules are imported by their names from the source root on. It is one all the same where a project's own file stands
//! in it (`src/backend/pyproject.toml`), and for scripts in a folder that holds no packages.
//! A name of the standard library counts only at the own root, and only where a real module or package has it: Python
//! itself would find it there first.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use hashbrown::HashTable;

use super::super::FileId;
use super::path_table::{Extension, Keys, PathTable, Trace, folder, is_within};
use super::python_stdlib::is_standard;
use super::{Outcome, Reason};

/// Key space of top-level names.
const TOP_NAMES: u8 = 1;
const MODULE: &[Extension] = &[Extension::Py, Extension::Pyi];

/// What a dotted name led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// A folder with `__init__.py` or `__init__.pyi`, which is this file.
    Package(FileId),
    /// A file.
    Module(FileId),
    /// A folder with Python files below it and no `__init__`.
    Namespace,
}

impl Found {
    fn file(self) -> Option<FileId> {
        match self {
            Found::Package(file) | Found::Module(file) => Some(file),
            Found::Namespace => None,
        }
    }
}

/// A folder that holds Python files, itself or further below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Folder {
    /// A file below it, whose path begins with the folder's.
    witness: FileId,
    length: u32,
    is_package: bool,
    /// Length of the deepest folder, itself included, that a module of the same name hides, plus one; 0 for none.
    hidden: u32,
}

/// Where Python names are looked up in one tree.
#[derive(Debug)]
pub(crate) struct PythonRoots {
    folders: HashTable<Folder>,
    keys: Keys,
    /// Folders that hold a package, are none themselves, and are no namespaces below a source root.
    package_parents: HashSet<String>,
    /// The source roots: those of `shared` that are no packages, without the repository root.
    sources: HashSet<String>,
    /// Folders of projects below a source root.
    projects: HashSet<String>,
    /// Namespaces below a source root that hold a package.
    namespaces: HashSet<String>,
    /// The repository root, `src` folders and folders named by a `pyproject.toml`, in the order they are tried.
    shared: HashMap<String, u32>,
    /// Top-level name -> the roots that have it, in order.
    tops: HashMap<String, Vec<String>>,
}

impl PythonRoots {
    /// `declared` are the folders that manifests name as holding packages.
    pub(crate) fn new(table: &PathTable, declared: &[String]) -> Self {
        let keys = table.keys().clone();
        let mut roots = PythonRoots {
            folders: HashTable::new(),
            keys,
            package_parents: HashSet::new(),
            sources: HashSet::new(),
            projects: HashSet::new(),
            namespaces: HashSet::new(),
            shared: HashMap::new(),
            tops: HashMap::new(),
        };
        let python: Vec<FileId> = table.all_paths().filter(|id| is_python(table.path(*id))).collect();
        for id in &python {
            roots.add_folders(table, *id);
        }
        roots.find_roots(table, declared);
        roots.find_tops(table, &python);
        roots
    }

    fn add_folders(&mut self, table: &PathTable, witness: FileId) {
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

    fn folder_at(&self, table: &PathTable, dir: &str) -> Option<Folder> {
        self.folders
            .find(self.keys.hash(dir), |folder| text_of(table, *folder) == dir)
            .copied()
    }

    fn traced_folder(&self, table: &PathTable, dir: &str, trace: &mut Trace) -> Option<Folder> {
        trace.keys.push(self.keys.of(dir));
        self.folder_at(table, dir)
    }

    fn find_roots(&mut self, table: &PathTable, declared: &[String]) {
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

    /// The nearest source root above `dir`. The repository root is none: everything is below it.
    fn source_above<'a>(&self, dir: &'a str) -> Option<&'a str> {
        let mut above = folder(dir);
        while !above.is_empty() {
            if self.sources.contains(above) {
                return Some(above);
            }
            above = folder(above);
        }
        None
    }

    fn find_tops(&mut self, table: &PathTable, python: &[FileId]) {
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
    fn rank<'a>(&self, root: &'a str) -> (u32, &'a str) {
        (self.shared.get(root).copied().unwrap_or(u32::MAX), root)
    }

    /// The keys whose answers differ between this tree's roots and `older` ones.
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
            for (name, roots) in &mine.tops {
                if theirs.tops.get(name) != Some(roots) {
                    sink(self.keys.of_named(TOP_NAMES, name));
                }
            }
        }
    }

    /// Whether every root is one of `older`, so that [`Self::changed_keys`] says all that changed.
    pub(crate) fn has_same_roots(&self, older: &Self) -> bool {
        self.shared == older.shared
            && self.package_parents == older.package_parents
            && self.sources == older.sources
            && self.projects == older.projects
            && self.namespaces == older.namespaces
    }

    /// One name below a folder.
    fn step(&self, table: &PathTable, dir: &str, name: &str, trace: &mut Trace) -> Option<Found> {
        let path = below(dir, name);
        let known = self.traced_folder(table, &path, trace);
        if known.is_some_and(|folder| folder.is_package)
            && let Some(init) = table
                .siblings(&below(&path, "__init__"), trace)
                .and_then(|files| files.first(MODULE))
        {
            return Some(Found::Package(init));
        }
        // Traced with the folder: the key is the same.
        if let Some(file) = table.siblings_untraced(&path).and_then(|files| files.first(MODULE)) {
            return Some(Found::Module(file));
        }
        known.map(|_| Found::Namespace)
    }

    /// `parts` below `root`; `root` itself when there are none.
    fn walk<'a>(
        &self,
        table: &PathTable,
        root: &'a str,
        parts: &str,
        trace: &mut Trace,
    ) -> Option<(Found, Cow<'a, str>)> {
        let Some((parents, last)) = parts.rsplit_once('.').or((!parts.is_empty()).then_some(("", parts))) else {
            return Some((Found::Namespace, Cow::Borrowed(root)));
        };
        let parent: Cow<'a, str> = if parents.is_empty() {
            Cow::Borrowed(root)
        } else {
            let parent = below(root, &parents.replace('.', "/"));
            let known = self.traced_folder(table, &parent, trace)?;
            if known.hidden as usize > root.len() + 1 {
                return None;
            }
            Cow::Owned(parent)
        };
        let found = self.step(table, &parent, last, trace)?;
        Some((found, Cow::Owned(below(&parent, last))))
    }

    /// The nearest folder of `dir` that is no package and no namespace below a source root.
    fn own_root<'a>(&self, table: &PathTable, dir: &'a str, trace: &mut Trace) -> &'a str {
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
        let mut is_of_scripts = root == dir && !self.namespaces.contains(root);
        let mut above = root;
        while above.len() > source.len() {
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

    fn absolute<'a>(
        &'a self,
        table: &PathTable,
        from: &'a str,
        parts: &str,
        trace: &mut Trace,
    ) -> Option<(Found, Cow<'a, str>)> {
        let own = self.own_root(table, folder(from), trace);
        let first = parts.split('.').next().unwrap_or(parts);
        if is_standard(first) {
            return match self.step(table, own, first, trace)? {
                Found::Namespace => None,
                _ => self
                    .walk(table, own, parts, trace)
                    .filter(|(found, _)| *found != Found::Namespace),
            };
        }
        let mut namespace = None;
        let mut consider = |root: &'a str, trace: &mut Trace| match self.walk(table, root, parts, trace) {
            Some((Found::Namespace, path)) => {
                namespace.get_or_insert((Found::Namespace, path));
                None
            }
            found => found,
        };
        if let Some(found) = consider(own, trace) {
            return Some(found);
        }
        let mut above = own;
        while !above.is_empty() {
            above = folder(above);
            if self.package_parents.contains(above)
                && let Some(found) = consider(above, trace)
            {
                return Some(found);
            }
        }
        trace.keys.push(self.keys.of_named(TOP_NAMES, first));
        let roots = self.tops.get(first).map_or(&[][..], Vec::as_slice);
        let is_near = |root: &str| root == own || (is_within(own, root) && self.package_parents.contains(root));
        for root in roots.iter().filter(|root| self.shared.contains_key(root.as_str())) {
            if !is_near(root)
                && let Some(found) = consider(root, trace)
            {
                return Some(found);
            }
        }
        if namespace.is_some() {
            return namespace;
        }
        let top = |path: &'a str| path.split('/').next().unwrap_or(path);
        let mut agreed: Option<(Found, Cow<'a, str>)> = None;
        for root in roots.iter().filter(|root| !self.shared.contains_key(root.as_str())) {
            if is_near(root) || top(root) != top(from) {
                continue;
            }
            match self.walk(table, root, parts, trace) {
                None | Some((Found::Namespace, _)) => {}
                Some(found) if agreed.as_ref().is_none_or(|(known, _)| known.file() == found.0.file()) => {
                    agreed = Some(found);
                }
                Some(_) => return None,
            }
        }
        agreed
    }

    /// Where `module` (dotted, leading dots for levels), or `name` of it, leads from the file `from`.
    pub(super) fn resolve(
        &self,
        table: &PathTable,
        from: &str,
        module: &str,
        name: Option<&str>,
        trace: &mut Trace,
    ) -> Outcome {
        let parts = module.trim_start_matches('.');
        let level = module.len() - parts.len();
        if parts.split('.').any(|part| part.is_empty() || part.contains('/')) && !(parts.is_empty() && level > 0) {
            return Outcome::Unresolved(Reason::Invalid);
        }
        let base = if level == 0 {
            self.absolute(table, from, parts, trace)
        } else {
            let mut dir = folder(from);
            for _ in 1..level {
                if dir.is_empty() {
                    return Outcome::Unresolved(Reason::OutsideRepository);
                }
                dir = folder(dir);
            }
            if parts.is_empty() {
                let init = table
                    .siblings(&below(dir, "__init__"), trace)
                    .and_then(|files| files.first(MODULE));
                Some((init.map_or(Found::Namespace, Found::Package), Cow::Borrowed(dir)))
            } else {
                self.walk(table, dir, parts, trace)
            }
        };
        let Some((found, path)) = base else {
            return Outcome::Unresolved(if level == 0 { Reason::External } else { Reason::Missing });
        };
        if let Some(name) = name.filter(|name| *name != "*" && !name.contains('/'))
            && !matches!(found, Found::Module(_))
            && let Some(file) = self.step(table, &path, name, trace).and_then(Found::file)
        {
            return Outcome::File(file);
        }
        match found.file() {
            Some(file) => Outcome::File(file),
            None => Outcome::Unresolved(Reason::Namespace),
        }
    }
}

fn text_of(table: &PathTable, folder: Folder) -> &str {
    table.path(folder.witness).get(..folder.length as usize).unwrap_or("")
}

fn below(dir: &str, name: &str) -> String {
    if dir.is_empty() {
        return name.to_owned();
    }
    let mut path = String::with_capacity(dir.len() + name.len() + 1);
    path.push_str(dir);
    path.push('/');
    path.push_str(name);
    path
}

/// Files that stand at the root of a project: it is run or installed from there.
const PROJECT_FILES: [&str; 7] = [
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "requirements.txt",
    "Pipfile",
    "manage.py",
    "Dockerfile",
];

fn is_project(table: &PathTable, dir: &str) -> bool {
    PROJECT_FILES
        .iter()
        .any(|name| table.file_untraced(&below(dir, name)).is_some())
}

fn is_python(path: &str) -> bool {
    path.ends_with(".py") || path.ends_with(".pyi")
}

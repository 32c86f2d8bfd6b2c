//! Folders without `__init__` below a source root or in a project: whether each is a root or a namespace.
//!
//! The name of a namespace's module begins at a folder above the namespace. The name of a root's module begins at the
//! root. Paths alone do not show which of the two a folder is, but imports do. If an import uses a longer name for a
//! module of the folder, the folder where that name begins is on Python's path. The topmost such folder counts.

use std::collections::{BTreeMap, HashMap, HashSet};

use coord_scan::Specifier;

use crate::file::FileId;
use crate::record::specifiers_of;
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{around, below, folder};
use crate::resolve::python::PythonRoots;
use crate::resolve::python::roots::{folder_path, is_python, module_untraced};
use crate::resolve::tree_context::TreeContext;

/// Most folders between a source root and a folder that may be a root. A deeper one is a namespace.
const MAX_DEPTH: usize = 12;
/// Most memory for names, in bytes. Folders past that are namespaces.
const MAX_NAME_BYTES: usize = 32 << 20;
/// Memory for a name in addition to its text.
const BYTES_PER_NAME: usize = 160;
/// Most folders with one name in one project.
const MAX_MEANINGS: usize = 16;
/// Most projects around one file whose names an import of the file may mean.
const MAX_PROJECTS: usize = 8;

/// A folder that is a root or a namespace.
struct Candidate<'t> {
    dir: &'t str,
    /// The nearest source root or project above: the topmost folder where its name can begin.
    base: &'t str,
    holds_packages: bool,
    /// The folder of its project, whose files see its names before those of other projects.
    project: &'t str,
    /// Whether it is below a source root. A candidate elsewhere is a namespace or an ordinary folder.
    is_below_source: bool,
    /// Whether there is room for all of its names.
    is_named: bool,
}

/// A meaning of a name: the number of a candidate, and the path length of the folder where the name begins.
type Meaning = (u32, u32);

#[derive(Default)]
struct Names<'t> {
    /// Folder of a project -> name -> the candidates with the name there.
    of_projects: HashMap<&'t str, HashMap<String, Vec<Meaning>>>,
    /// Name -> the candidate with the name, `None` if there are several.
    unique: HashMap<String, Option<Meaning>>,
}

impl PythonRoots {
    /// Finds the folder where names begin, for each folder that has Python files or packages.
    pub(super) fn find_homes(&mut self, tree: TreeContext<'_>, python: &[FileId]) {
        if self.kinds.sources.is_empty() && self.kinds.flat.is_empty() {
            return;
        }
        let table = tree.table;
        let mut candidates = self.candidates(table, python);
        let names = self.names(&mut candidates);
        let first = |name: &String| name.split('.').next().unwrap_or(name).to_owned();
        self.first_names = names.unique.keys().map(first).collect();
        let mut begins: Vec<Option<u32>> = vec![None; candidates.len()];
        let files = tree.table.files().iter().zip(tree.records);
        for (file, record) in files.filter(|(file, _)| is_python(&file.path)) {
            let mut imports = self.deciding_imports(specifiers_of(record.as_deref())).peekable();
            if imports.peek().is_none() {
                continue;
            }
            let projects = around(folder(&file.path)).filter_map(|dir| names.of_projects.get(dir));
            let projects: Vec<_> = projects.take(MAX_PROJECTS).collect();
            for import in imports {
                for (meaning, child) in meanings(&projects, &names, import) {
                    self.record_begin(table, &candidates, meaning, child, &mut begins);
                }
            }
        }
        self.homes = homes(&candidates, &begins);
    }

    /// The module and name of each import that may show where names begin.
    pub(super) fn deciding_imports<'s>(
        &self,
        specifiers: &'s [Specifier],
    ) -> impl Iterator<Item = (&'s str, Option<&'s str>)> {
        let specifiers = if self.first_names.is_empty() { &[] } else { specifiers };
        specifiers.iter().filter_map(|specifier| {
            let first = specifier.text.split('.').next().unwrap_or_default();
            let name = specifier.name.as_deref();
            let is_deciding = self.first_names.contains(first);
            is_deciding.then_some((specifier.text.as_str(), name))
        })
    }

    fn candidates<'t>(&self, table: &'t PathTable, python: &[FileId]) -> Vec<Candidate<'t>> {
        let mut python_folders: BTreeMap<&str, bool> = BTreeMap::new();
        for id in python {
            python_folders.entry(folder(table.path(*id))).or_default();
        }
        for package in self.folders.iter().filter(|folder| folder.is_package) {
            python_folders.insert(folder(folder_path(table, *package)), true);
        }
        let candidate = |(dir, holds_packages): (&'t str, bool)| {
            if self.kinds.shared.contains_key(dir) || self.kinds.projects.contains(dir) {
                return None;
            }
            let source = self.source_above(dir);
            let (base, project) = match source {
                Some(source) => (self.base_above(dir)?, folder(source)),
                None => {
                    let flat = self.flat_above(dir).filter(|_| holds_packages)?;
                    (flat, flat)
                }
            };
            let is_named = depth(dir, base) <= MAX_DEPTH;
            let mut above = dir;
            while is_named && above.len() > base.len() {
                // A folder in a package is not a root.
                if self.is_package(table, above) {
                    return None;
                }
                above = folder(above);
            }
            Some(Candidate {
                dir,
                base,
                holds_packages,
                project,
                is_below_source: source.is_some(),
                is_named,
            })
        };
        python_folders.into_iter().filter_map(candidate).collect()
    }

    /// The nearest project above `dir` that has its packages in its own folder.
    fn flat_above<'a>(&self, dir: &'a str) -> Option<&'a str> {
        let above = around(folder(dir)).take_while(|above| !above.is_empty());
        above.take(MAX_DEPTH).find(|above| self.kinds.flat.contains(*above))
    }

    /// The names of all candidates. A candidate has a name from its base, and from each folder between the two.
    fn names<'t>(&self, candidates: &mut [Candidate<'t>]) -> Names<'t> {
        let mut names = Names::default();
        let mut room = MAX_NAME_BYTES;
        for (number, candidate) in (0..).zip(candidates) {
            let (dir, base) = (candidate.dir, candidate.base);
            let inside = &dir[base.len() + 1..];
            let cost = depth(dir, base) * (2 * inside.len() + BYTES_PER_NAME);
            if !candidate.is_named || cost > room {
                candidate.is_named = false;
                continue;
            }
            room -= cost;
            let of_project = names.of_projects.entry(candidate.project).or_default();
            let ends = memchr::memchr_iter(b'/', inside.as_bytes()).map(|at| base.len() + 1 + at);
            for begin in std::iter::once(base.len()).chain(ends) {
                let name = dir[begin + 1..].replace('/', ".");
                let meaning = (number, begin as u32);
                let unique = names.unique.entry(name.clone());
                unique.and_modify(|entry| *entry = None).or_insert(Some(meaning));
                let meanings = of_project.entry(name).or_default();
                if meanings.len() < MAX_MEANINGS {
                    meanings.push(meaning);
                }
            }
        }
        names
    }

    /// Records where the name of a candidate begins, if the candidate has `child`. The topmost folder counts.
    fn record_begin(
        &self,
        table: &PathTable,
        candidates: &[Candidate<'_>],
        (number, begin): Meaning,
        child: &str,
        begins: &mut [Option<u32>],
    ) {
        let (Some(candidate), Some(best)) = (candidates.get(number as usize), begins.get_mut(number as usize)) else {
            return;
        };
        if best.is_some_and(|best| best <= begin) {
            return;
        }
        let path = below(candidate.dir, child);
        if self.folder_at(table, &path).is_some() || module_untraced(table, &path).is_some() {
            *best = Some(begin);
        }
    }
}

/// The number of folders from `base` to `dir`.
fn depth(dir: &str, base: &str) -> usize {
    memchr::memchr_iter(b'/', &dir.as_bytes()[base.len()..]).count()
}

/// The candidates whose child an import with this module and name may mean, and the name of that child.
fn meanings<'a>(
    projects: &'a [&HashMap<String, Vec<Meaning>>],
    names: &'a Names<'_>,
    (text, name): (&'a str, Option<&'a str>),
) -> impl Iterator<Item = (Meaning, &'a str)> {
    let dots = memchr::memchr_iter(b'.', text.as_bytes()).take(MAX_DEPTH);
    let inner = dots.map(|dot| {
        let rest = &text[dot + 1..];
        (&text[..dot], rest.split('.').next().unwrap_or(rest))
    });
    let modules = inner.chain(name.map(|name| (text, name)));
    modules.flat_map(|(module, child)| {
        let near = projects.iter().filter_map(|names| names.get(module)).flatten();
        let mut near = near.copied().peekable();
        // A file of another project means a candidate only if no other candidate has the name.
        let far = near
            .peek()
            .is_none()
            .then(|| names.unique.get(module).copied().flatten());
        near.chain(far.flatten()).map(move |meaning| (meaning, child))
    })
}

/// The folder where the names in each candidate begin. `begins` has the length of its path, if an import shows it.
fn homes(candidates: &[Candidate<'_>], begins: &[Option<u32>]) -> HashMap<String, String> {
    let mut homes: HashMap<String, String> = HashMap::new();
    let mut namespaces: HashSet<&str> = HashSet::new();
    for (candidate, begin) in candidates.iter().zip(begins) {
        let dir = candidate.dir;
        let above = around(folder(dir))
            .take_while(|above| above.len() > candidate.base.len())
            .take(MAX_DEPTH)
            .find(|above| namespaces.contains(above));
        let home = match begin {
            _ if !candidate.is_named && candidate.is_below_source => candidate.base,
            _ if !candidate.is_named => dir,
            Some(begin) => &dir[..*begin as usize],
            // Names of packages in a namespace begin where the namespace's names do. A folder with only scripts is not
            // part of a namespace.
            None if candidate.holds_packages => {
                let home = above.and_then(|above| homes.get(above));
                home.map_or(dir, |home| &dir[..home.len()])
            }
            None => dir,
        };
        if home != dir {
            namespaces.insert(dir);
        } else if !candidate.is_below_source {
            continue;
        }
        homes.insert(dir.to_owned(), home.to_owned());
    }
    homes
}

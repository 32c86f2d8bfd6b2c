//! The projects that a tree's manifests describe: packages, links between them, compiler options, Python layout.
//!
//! - `manifest_index`: the manifests by kind
//! - `package`, `package_links`: packages, and the names that lead to them
//! - `aliases`: the aliases of frameworks, Vite and Deno
//! - `context`: the manifests that govern one file
//! - `python_layout`: the folders of Python's packages

pub(crate) mod aliases;
pub(crate) mod context;
pub(crate) mod manifest_index;
pub(crate) mod package;
pub(crate) mod package_links;
pub(crate) mod python_layout;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::resolve::keys::{KeySpace, Keys, Trace};
use crate::resolve::manifests::tsconfig::{Options, Patterns};
use crate::resolve::manifests::{MAX_MANIFEST_VALUES, Manifests};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{around, folder, is_within};
use crate::resolve::projects::aliases::{Aliases, aliases_by_folder};
use crate::resolve::projects::context::{Context, GoverningConfig, govern, has_choice};
use crate::resolve::projects::manifest_index::{ManifestIndex, ValuePool};
use crate::resolve::projects::package::{Package, output_folders};
use crate::resolve::projects::package_links::Links;
use crate::resolve::projects::python_layout::PythonLayout;

/// The projects of a tree, as described by its manifests.
#[derive(Debug, Default)]
pub(crate) struct Projects {
    packages: HashMap<String, Arc<Package>>,
    links: Links,
    governing: HashMap<String, Vec<GoverningConfig>>,
    aliases: HashMap<String, Arc<Aliases>>,
    /// Folders that contain a tracked `node_modules`.
    module_folders: HashSet<String>,
    python: PythonLayout,
    /// Paths of manifests with more values than there was room for.
    left_out: BTreeSet<String>,
}

/// Most values that all configs of a graph inherit together. Values of the same text count each time.
const MAX_INHERITED_VALUES: usize = 10_000_000;

impl Projects {
    /// Combines `manifests` into projects. Reuses the parts of `older` that are equal.
    pub(crate) fn new(table: &PathTable, manifests: &Manifests, older: Option<&Projects>) -> Self {
        let mut index = ManifestIndex::new(table, manifests);
        index.add_linked(manifests);
        let mut options: HashMap<&str, Arc<Options>> = HashMap::new();
        let mut older_options: HashMap<&str, &Arc<Options>> = HashMap::new();
        for configs in older.iter().flat_map(|older| older.governing.values()) {
            older_options.extend(configs.iter().flatten().map(|(path, options)| (path.as_str(), options)));
        }
        // Hundreds of configs may inherit the same hundreds of patterns.
        let mut patterns: HashSet<Arc<Patterns>> = older_options
            .values()
            .map(|options| Arc::clone(&options.paths))
            .collect();
        let mut inheritable = MAX_INHERITED_VALUES;
        let mut room = ValuePool(MAX_MANIFEST_VALUES);
        let mut left_out = index.left_out.clone();
        for path in index.configs.keys() {
            let mut fresh = index.options(path, &mut inheritable).unwrap_or_else(|| {
                left_out.insert((*path).to_owned());
                Options::default()
            });
            let mut value_count = fresh.own_value_count();
            match patterns.get(&fresh.paths) {
                Some(shared) => fresh.paths = Arc::clone(shared),
                None => {
                    value_count += fresh.paths.iter().map(|(_, targets)| 1 + targets.len()).sum::<usize>();
                    patterns.insert(Arc::clone(&fresh.paths));
                }
            }
            if !room.take(|| value_count * (1 + path.len() / 64)) {
                left_out.insert((*path).to_owned());
                fresh = Options::default();
            }
            let same = older_options.get(path).filter(|older| older.as_ref() == &fresh);
            options.insert(path, same.map_or_else(|| Arc::new(fresh), |older| Arc::clone(older)));
        }
        let mut packages = HashMap::new();
        for (folder, manifest) in &index.packages {
            let fresh = Package {
                folder: (*folder).to_owned(),
                manifest: Arc::clone(manifest),
                output_folders: output_folders(folder, &options),
            };
            let same = older
                .and_then(|older| older.packages.get(*folder))
                .filter(|older| ***older == fresh);
            let package = same.map_or_else(|| Arc::new(fresh), Arc::clone);
            packages.insert((*folder).to_owned(), package);
        }
        let aliases = aliases_by_folder(&index.aliases, older.map(|older| &older.aliases), &mut left_out);
        let governing = index.governing_configs(&options);
        let python = PythonLayout::new(&index.python);
        Projects {
            packages,
            links: index.links,
            governing,
            aliases,
            module_folders: table.folders_with("node_modules"),
            python,
            left_out,
        }
    }

    /// Whether the manifest at `path` has values for which there was no room.
    pub(crate) fn is_left_out(&self, path: &str) -> bool {
        self.left_out.contains(path)
    }

    /// Whether every part is the same object as in `older`.
    pub(crate) fn is_same(&self, older: &Self) -> bool {
        let is_same_config = |(one, other): (&GoverningConfig, &GoverningConfig)| {
            let mut candidates = one.iter().zip(other);
            one.len() == other.len() && candidates.all(|(one, other)| one.0 == other.0 && Arc::ptr_eq(&one.1, &other.1))
        };
        have_same_entries(&self.packages, &older.packages, Arc::ptr_eq)
            && have_same_entries(&self.aliases, &older.aliases, Arc::ptr_eq)
            && self.links == older.links
            && self.module_folders == older.module_folders
            && self.python == older.python
            && self.left_out == older.left_out
            && have_same_entries(&self.governing, &older.governing, |one, other| {
                one.len() == other.len() && one.iter().zip(other).all(is_same_config)
            })
    }

    /// The folders and packages that the manifests of Python name.
    pub(crate) fn python(&self) -> &PythonLayout {
        &self.python
    }

    /// The context that governs the file at `path`.
    pub(crate) fn context(&self, path: &str) -> Context {
        let mut context = Context::default();
        // Whether aliases of outer folders count.
        let mut is_open = !self.aliases.is_empty();
        for dir in around(folder(path)) {
            context.work += 1 + dir.len() / 64;
            if context.package.is_none() {
                context.package = self.packages.get(dir).cloned();
            }
            if context.options.is_none()
                && let Some(governing) = self.governing.get(dir)
            {
                context.options = govern(governing, path, &mut context.work);
            }
            if is_open && let Some(aliases) = self.aliases.get(dir) {
                is_open = aliases.is_open;
                context.aliases.push(Arc::clone(aliases));
            }
            if context.package.is_some() && context.options.is_some() && !is_open {
                break;
            }
        }
        context
    }

    /// Whether the context of a file depends on its name, and not on its folder alone.
    pub(crate) fn depends_on_name(&self, path: &str) -> bool {
        let nearest = around(folder(path)).find_map(|dir| self.governing.get(dir));
        nearest.is_some_and(|governing| has_choice(governing))
    }

    /// The folders that contain a tracked `node_modules`; `trace` gets the key of changes to them.
    pub(crate) fn module_folders(&self, keys: &Keys, trace: &mut Trace) -> &HashSet<String> {
        trace.push(keys.of_named(KeySpace::ModuleFolders, "node_modules"));
        &self.module_folders
    }

    pub(crate) fn package_at(&self, folder: &str) -> Option<&Arc<Package>> {
        if self.packages.is_empty() {
            return None;
        }
        self.packages.get(folder)
    }

    /// The package that `name` means in `folder`.
    pub(crate) fn package_named(&self, name: &str, folder: &str, trace: &mut Trace) -> Option<&Arc<Package>> {
        let links = self.links.get(name)?;
        trace.charge_list(links.len());
        let link = links.iter().find(|link| is_within(folder, &link.scope))?;
        self.packages.get(&link.folder)
    }

    /// The keys of lookups whose results differ from `older`'s, apart from changes of [`Context`].
    pub(crate) fn changed_keys(&self, older: &Self, keys: &Keys, sink: &mut impl FnMut(u32)) {
        let mut changed_folders = BTreeSet::new();
        for (mine, theirs) in [(self, older), (older, self)] {
            for (folder, package) in &mine.packages {
                if !theirs
                    .packages
                    .get(folder)
                    .is_some_and(|other| Arc::ptr_eq(package, other))
                {
                    changed_folders.insert(folder.as_str());
                }
            }
        }
        for folder in &changed_folders {
            sink(keys.of(folder));
        }
        if self.module_folders != older.module_folders {
            sink(keys.of_named(KeySpace::ModuleFolders, "node_modules"));
        }
        for (mine, theirs) in [(self, older), (older, self)] {
            for (name, links) in &mine.links {
                if theirs.links.get(name) != Some(links)
                    || links.iter().any(|link| changed_folders.contains(link.folder.as_str()))
                {
                    sink(keys.of_named(KeySpace::PackageNames, name));
                }
            }
        }
    }
}

/// Whether both maps have the same keys, and `is_same` accepts the two values of each.
fn have_same_entries<V>(
    one: &HashMap<String, V>,
    other: &HashMap<String, V>,
    is_same: impl Fn(&V, &V) -> bool,
) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .all(|(key, value)| other.get(key).is_some_and(|other| is_same(value, other)))
}

//! What the manifests of a tree say: packages, links between them, compiler options, Python folders.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::super::language::manifest_form;
use super::framework::{self, Framework, FrameworkConfig};
use super::go::GoManifest;
use super::package::{Manifest, Package};
use super::path_table::{Keys, PathTable, Trace, folder, is_within, joined};
use super::pyproject;
use super::rust::CargoManifest;
use super::symlinks::{real_path, symlinks};
use super::tsconfig::{Options, Patterns, RawConfig, effective};
use super::workspace::{Links, find_links, pnpm_packages};

/// Key space of package names.
pub(super) const PACKAGE_NAMES: u8 = 2;
/// Key space of what holds for the whole tree.
const WHOLE_TREE: u8 = 3;
/// Largest manifest that is read, in bytes.
pub const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// A manifest, parsed. One that cannot be read says nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Parsed {
    Package(Box<Manifest>),
    Config(Box<RawConfig>),
    Framework(Box<FrameworkConfig>),
    Pnpm(Vec<String>),
    PyProject(Vec<String>),
    Cargo(Box<CargoManifest>),
    GoModule(Box<GoManifest>),
    GoWorkspace(Box<GoManifest>),
    /// A symbolic link, and what it names.
    Link(String),
    Nothing,
}

/// A kind of manifest: which files are of it, and how one is read.
#[derive(Debug)]
pub(crate) struct ManifestForm {
    /// Whether a file of this name, without its folder, is one.
    pub(crate) is_named: fn(&str) -> bool,
    /// What a text says. Never fails: what cannot be read says nothing.
    pub(crate) read: fn(&str) -> Parsed,
}

/// Packages, workspaces and compiler options of JavaScript and TypeScript.
pub(crate) const JAVASCRIPT_MANIFESTS: &[ManifestForm] = &[
    ManifestForm {
        is_named: |name| name == "package.json",
        read: |text| Manifest::parse(text).map_or(Parsed::Nothing, |manifest| Parsed::Package(Box::new(manifest))),
    },
    ManifestForm {
        is_named: |name| name == "pnpm-workspace.yaml",
        read: |text| Parsed::Pnpm(pnpm_packages(text)),
    },
    ManifestForm {
        is_named: |name| name.ends_with(".json") && (name.contains("tsconfig") || name.contains("jsconfig")),
        read: read_config,
    },
    ManifestForm {
        is_named: framework::is_config,
        read: |text| Parsed::Framework(Box::new(FrameworkConfig::parse(text))),
    },
];

/// Folders of Python's packages.
pub(crate) const PYTHON_MANIFESTS: &[ManifestForm] = &[ManifestForm {
    is_named: |name| name == "pyproject.toml",
    read: |text| Parsed::PyProject(pyproject::package_folders(text)),
}];

fn read_config(text: &str) -> Parsed {
    RawConfig::parse(text).map_or(Parsed::Nothing, |config| Parsed::Config(Box::new(config)))
}

impl Parsed {
    /// How many values it keeps that a hostile text can have many of.
    pub(crate) fn values(&self) -> usize {
        match self {
            Parsed::Package(manifest) => manifest.values(),
            Parsed::Config(config) => config.values(),
            _ => 1,
        }
    }

    /// Reads the text of the manifest at `path`. One that no row of the table names is a config that another extends.
    pub(crate) fn read(path: &str, text: &str) -> Self {
        if text.len() as u64 > MAX_MANIFEST_BYTES {
            return Parsed::Nothing;
        }
        manifest_form(path).map_or(read_config as fn(&str) -> Parsed, |form| form.read)(text)
    }
}

/// Whether the file at `path` is read as a manifest in any case. Configs that others extend are found later, by
/// [`missing_configs`].
pub fn is_manifest(path: &str) -> bool {
    manifest_form(path).is_some()
}

/// The manifests of a tree by path.
pub(crate) type Manifests = BTreeMap<String, Arc<Parsed>>;

/// Whether both are the same manifests, read once.
pub(crate) fn same_manifests(one: &Manifests, other: &Manifests) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one.0 == other.0 && Arc::ptr_eq(one.1, other.1))
}

/// One config that governs files in and below its folder, with those that it refers to, itself first.
#[derive(Clone, Debug)]
struct Governing {
    /// Path and options.
    candidates: Vec<(String, Arc<Options>)>,
}

/// What resolution knows beside the paths.
#[derive(Debug, Default)]
pub(crate) struct Projects {
    packages: HashMap<String, Arc<Package>>,
    links: Links,
    governing: HashMap<String, Vec<Governing>>,
    frameworks: HashMap<String, Arc<Framework>>,
    /// Folders that hold a tracked `node_modules`.
    module_folders: HashSet<String>,
    python_folders: Vec<String>,
}

/// What governs one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    pub(super) options: Option<Arc<Options>>,
    pub(super) package: Option<Arc<Package>>,
    pub(super) framework: Option<Arc<Framework>>,
}

impl Context {
    /// Whether both are the same objects. [`Projects::new`] keeps an older object where nothing changed.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        fn same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
            match (one, other) {
                (Some(one), Some(other)) => Arc::ptr_eq(one, other),
                (None, None) => true,
                _ => false,
            }
        }
        same(self.options.as_ref(), other.options.as_ref())
            && same(self.package.as_ref(), other.package.as_ref())
            && same(self.framework.as_ref(), other.framework.as_ref())
    }
}

/// Most configs reached by `references` from one.
const MAX_REFERENCES: usize = 256;

impl Projects {
    /// Puts together what `manifests` say. What is as in `older` is kept from there.
    pub(crate) fn new(table: &PathTable, manifests: &Manifests, older: Option<&Projects>) -> Self {
        let mut index = ManifestIndex::new(table, manifests);
        index.add_linked(manifests);
        let mut options: HashMap<&str, Arc<Options>> = HashMap::new();
        let mut older_options: HashMap<&str, &Arc<Options>> = HashMap::new();
        for (path, known) in older
            .iter()
            .flat_map(|older| older.governing.values().flatten())
            .flat_map(|one| &one.candidates)
        {
            older_options.insert(path, known);
        }
        // Hundreds of configs may inherit the same hundreds of patterns.
        let mut patterns: HashSet<Arc<Patterns>> = older_options
            .values()
            .map(|options| Arc::clone(&options.paths))
            .collect();
        for path in index.configs.keys() {
            let mut fresh = index.options(path);
            match patterns.get(&fresh.paths) {
                Some(known) => fresh.paths = Arc::clone(known),
                None => drop(patterns.insert(Arc::clone(&fresh.paths))),
            }
            let kept = older_options.get(path).filter(|known| known.as_ref() == &fresh);
            options.insert(path, kept.map_or_else(|| Arc::new(fresh), |known| Arc::clone(known)));
        }
        let mut packages = HashMap::new();
        for (folder, manifest) in &index.packages {
            let fresh = Package {
                folder: (*folder).to_owned(),
                manifest: (*manifest).clone(),
                built_from: built_from(folder, &options),
            };
            let kept = older
                .and_then(|older| older.packages.get(*folder))
                .filter(|known| ***known == fresh);
            let package = kept.map_or_else(|| Arc::new(fresh), Arc::clone);
            packages.insert((*folder).to_owned(), package);
        }
        let mut frameworks: HashMap<String, Arc<Framework>> = HashMap::new();
        for (path, config) in &index.frameworks {
            let folder = folder(path);
            if let Some(fresh) = Framework::new(path, config).filter(|_| !frameworks.contains_key(folder)) {
                let kept = older
                    .and_then(|older| older.frameworks.get(folder))
                    .filter(|known| ***known == fresh);
                let framework = kept.map_or_else(|| Arc::new(fresh), Arc::clone);
                frameworks.insert(folder.to_owned(), framework);
            }
        }
        let governing = index.governing(&options);
        let python_folders = index.python_folders();
        Projects {
            packages,
            links: index.links,
            governing,
            frameworks,
            module_folders: table.folders_with("node_modules"),
            python_folders,
        }
    }

    /// Whether all is as in `older`, object for object.
    pub(crate) fn is_same(&self, older: &Self) -> bool {
        let same_packages = self.packages.len() == older.packages.len()
            && self.packages.iter().all(|(folder, package)| {
                older
                    .packages
                    .get(folder)
                    .is_some_and(|other| Arc::ptr_eq(package, other))
            });
        let same_governing = |one: &Governing, other: &Governing| {
            one.candidates.len() == other.candidates.len()
                && one
                    .candidates
                    .iter()
                    .zip(&other.candidates)
                    .all(|(one, other)| one.0 == other.0 && Arc::ptr_eq(&one.1, &other.1))
        };
        let same_frameworks = self.frameworks.len() == older.frameworks.len()
            && self.frameworks.iter().all(|(folder, mine)| {
                older
                    .frameworks
                    .get(folder)
                    .is_some_and(|theirs| Arc::ptr_eq(mine, theirs))
            });
        same_packages
            && same_frameworks
            && self.links == older.links
            && self.module_folders == older.module_folders
            && self.python_folders == older.python_folders
            && self.governing.len() == older.governing.len()
            && self.governing.iter().all(|(folder, mine)| {
                older.governing.get(folder).is_some_and(|theirs| {
                    mine.len() == theirs.len() && mine.iter().zip(theirs).all(|(one, other)| same_governing(one, other))
                })
            })
    }

    pub(crate) fn python_folders(&self) -> &[String] {
        &self.python_folders
    }

    /// What governs the file at `path`.
    pub(crate) fn context(&self, path: &str) -> Context {
        let mut context = Context::default();
        let mut dir = folder(path);
        loop {
            if context.package.is_none() {
                context.package = self.packages.get(dir).cloned();
            }
            if context.options.is_none()
                && let Some(governing) = self.governing.get(dir)
            {
                context.options = govern(governing, path);
            }
            if context.framework.is_none() && !self.frameworks.is_empty() {
                context.framework = self.frameworks.get(dir).cloned();
            }
            let has_framework = context.framework.is_some() || self.frameworks.is_empty();
            if dir.is_empty() || (context.package.is_some() && context.options.is_some() && has_framework) {
                return context;
            }
            dir = folder(dir);
        }
    }

    /// Whether the context of a file depends on its folder alone.
    pub(super) fn depends_on_name(&self, path: &str) -> bool {
        let mut dir = folder(path);
        loop {
            if let Some(governing) = self.governing.get(dir) {
                return governing.len() > 1 || governing.iter().any(|one| one.candidates.len() > 1);
            }
            if dir.is_empty() {
                return false;
            }
            dir = folder(dir);
        }
    }

    /// The folders that hold a tracked `node_modules`; `trace` gets the key under which they change.
    pub(super) fn module_folders(&self, keys: &Keys, trace: &mut Trace) -> &HashSet<String> {
        trace.keys.push(keys.of_named(WHOLE_TREE, "node_modules"));
        &self.module_folders
    }

    /// The package in `folder`.
    pub(super) fn package_at(&self, folder: &str) -> Option<&Arc<Package>> {
        if self.packages.is_empty() {
            return None;
        }
        self.packages.get(folder)
    }

    /// The package that `name` means in `folder`.
    pub(super) fn package_named(&self, name: &str, folder: &str) -> Option<&Arc<Package>> {
        let link = self
            .links
            .get(name)?
            .iter()
            .find(|link| is_within(folder, &link.scope))?;
        self.packages.get(&link.folder)
    }

    /// The keys whose answers differ from `older`'s, beside what [`Context`] says.
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
            sink(keys.of_named(WHOLE_TREE, "node_modules"));
        }
        for (mine, theirs) in [(self, older), (older, self)] {
            for (name, links) in &mine.links {
                if theirs.links.get(name) != Some(links)
                    || links.iter().any(|link| changed_folders.contains(link.folder.as_str()))
                {
                    sink(keys.of_named(PACKAGE_NAMES, name));
                }
            }
        }
    }
}

/// The options that govern `path`: those of the first config that lists it, else of the nearest.
fn govern(governing: &[Governing], path: &str) -> Option<Arc<Options>> {
    let nearest = governing.first()?.candidates.first()?;
    if governing.len() > 1 || governing.iter().any(|one| one.candidates.len() > 1) {
        for (config, options) in governing.iter().flat_map(|one| &one.candidates) {
            if options.lists(config, path) {
                return Some(Arc::clone(options));
            }
        }
    }
    Some(Arc::clone(&nearest.1))
}

/// From output folders to source folders, as the configs in the package's own folder have them.
fn built_from(package: &str, options: &HashMap<&str, Arc<Options>>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for name in [
        "tsconfig.json",
        "tsconfig.build.json",
        "tsconfig.lib.json",
        "tsconfig.src.json",
    ] {
        let Some(path) = joined(package, name) else { continue };
        let Some(options) = options.get(path.as_str()) else {
            continue;
        };
        for out in options.out_dirs.iter().filter(|out| *out != package) {
            match &options.root_dir {
                Some(root) => pairs.push((out.clone(), root.clone())),
                None => {
                    pairs.extend(joined(package, "src").map(|source| (out.clone(), source)));
                    pairs.push((out.clone(), package.to_owned()));
                }
            }
        }
    }
    pairs.dedup();
    pairs
}

/// The manifests of a tree by kind.
struct ManifestIndex<'a> {
    table: &'a PathTable,
    pnpm: BTreeMap<&'a str, &'a [String]>,
    packages: BTreeMap<&'a str, &'a Manifest>,
    configs: BTreeMap<&'a str, &'a RawConfig>,
    frameworks: Vec<(&'a str, &'a FrameworkConfig)>,
    python: Vec<(&'a str, &'a [String])>,
    links: Links,
}

impl<'a> ManifestIndex<'a> {
    fn new(table: &'a PathTable, manifests: &'a Manifests) -> Self {
        let mut packages = BTreeMap::new();
        let mut configs = BTreeMap::new();
        let mut pnpm = BTreeMap::new();
        let mut frameworks = Vec::new();
        let mut python = Vec::new();
        let links = symlinks(manifests);
        for (path, parsed) in manifests {
            // A linked manifest says the same where the link is.
            let meant = match &**parsed {
                Parsed::Link(_) => real_path(&links, path).and_then(|path| manifests.get(&path)),
                _ => Some(parsed),
            };
            let Some(parsed) = meant else { continue };
            match &**parsed {
                Parsed::Package(manifest) => drop(packages.insert(folder(path), &**manifest)),
                Parsed::Config(config) => drop(configs.insert(path.as_str(), &**config)),
                Parsed::Framework(config) => frameworks.push((path.as_str(), &**config)),
                Parsed::Pnpm(globs) => drop(pnpm.insert(folder(path), globs.as_slice())),
                Parsed::PyProject(folders) => python.push((folder(path), folders.as_slice())),
                // What other families read.
                Parsed::Cargo(_) | Parsed::GoModule(_) | Parsed::GoWorkspace(_) | Parsed::Link(_) | Parsed::Nothing => {
                }
            }
        }
        let links = find_links(&packages, &pnpm);
        ManifestIndex {
            table,
            pnpm,
            packages,
            configs,
            frameworks,
            python,
            links,
        }
    }

    /// Adds the packages in folders that are links, such as those of a tracked `node_modules`.
    fn add_linked(&mut self, manifests: &'a Manifests) {
        let before = self.packages.len();
        for (path, id) in self.table.linked_paths() {
            if path.ends_with("/package.json")
                && let Some(Parsed::Package(manifest)) = manifests.get(self.table.path(*id)).map(|parsed| &**parsed)
            {
                self.packages.entry(folder(path)).or_insert(manifest);
            }
        }
        if self.packages.len() > before {
            self.links = find_links(&self.packages, &self.pnpm);
        }
    }

    /// The path of the config that `extends` names in a file of `here`.
    fn locate(&self, here: &str, extends: &str) -> Option<String> {
        let tracked = |path: &String| self.table.tracked(path).is_some();
        if extends.starts_with('.') {
            let base = joined(here, extends)?;
            return [base.clone(), format!("{base}.json"), format!("{base}/tsconfig.json")]
                .into_iter()
                .find(tracked);
        }
        let (name, rest) = split_package_name(extends)?;
        let link = self.links.get(name)?.iter().find(|link| is_within(here, &link.scope))?;
        let manifest = self.packages.get(link.folder.as_str())?;
        if rest.is_empty() {
            return joined(&link.folder, manifest.tsconfig.as_deref().unwrap_or("tsconfig.json")).filter(tracked);
        }
        let exported = manifest
            .exported(&format!("./{rest}"))
            .and_then(|(target, matched)| Some(target.text()?.replace('*', matched)));
        let base = joined(&link.folder, rest)?;
        exported
            .and_then(|target| joined(&link.folder, &target))
            .into_iter()
            .chain([base.clone(), format!("{base}.json"), format!("{base}/tsconfig.json")])
            .find(tracked)
    }

    fn options(&self, path: &str) -> Options {
        effective(path, &|path| self.configs.get(path).copied(), &|here, extends| {
            self.locate(here, extends)
        })
    }

    /// The path of the config that a reference names: a file, or a folder with a `tsconfig.json`.
    fn referenced(&self, from: &str, reference: &str) -> Option<&'a str> {
        let path = joined(folder(from), reference)?;
        let within = joined(&path, "tsconfig.json")?;
        let (known, _) = self
            .configs
            .get_key_value(path.as_str())
            .or_else(|| self.configs.get_key_value(within.as_str()))?;
        Some(known)
    }

    fn governing(&self, options: &HashMap<&str, Arc<Options>>) -> HashMap<String, Vec<Governing>> {
        let mut governing: HashMap<String, Vec<Governing>> = HashMap::new();
        // tsconfig before jsconfig: the first found is the nearest.
        for name in ["tsconfig.json", "jsconfig.json"] {
            for (path, _) in self
                .configs
                .iter()
                .filter(|(path, _)| path.rsplit('/').next() == Some(name))
            {
                let mut candidates: Vec<&str> = vec![path];
                let mut at = 0;
                while let Some(config) = candidates.get(at).copied() {
                    at += 1;
                    for reference in self.configs.get(config).map_or(&[][..], |config| &config.references) {
                        if let Some(next) = self.referenced(config, reference)
                            && candidates.len() < MAX_REFERENCES
                            && !candidates.contains(&next)
                        {
                            candidates.push(next);
                        }
                    }
                }
                let candidates = candidates
                    .into_iter()
                    .filter_map(|config| Some((config.to_owned(), Arc::clone(options.get(config)?))))
                    .collect();
                governing
                    .entry(folder(path).to_owned())
                    .or_default()
                    .push(Governing { candidates });
            }
        }
        governing
    }

    fn python_folders(&self) -> Vec<String> {
        let mut folders: Vec<String> = self
            .python
            .iter()
            .flat_map(|(here, folders)| folders.iter().filter_map(|folder| joined(here, folder)))
            .collect();
        folders.sort_unstable();
        folders.dedup();
        folders
    }
}

/// Configs that others extend or refer to, are in the tree, and are not among `manifests` yet. To be read and asked about
/// again, as they may name others.
pub(crate) fn missing_configs(table: &PathTable, manifests: &Manifests) -> BTreeSet<String> {
    let index = ManifestIndex::new(table, manifests);
    index
        .configs
        .iter()
        .flat_map(|(path, config)| {
            let here = folder(path);
            let extended = config.extends.iter().filter_map(|extends| index.locate(here, extends));
            let referenced = config.references.iter().filter_map(|reference| joined(here, reference));
            extended.chain(referenced)
        })
        .filter(|path| path.ends_with(".json") && !manifests.contains_key(path) && table.tracked(path).is_some())
        .collect()
}

/// A bare specifier's package name and what follows it, without the slash.
pub(super) fn split_package_name(specifier: &str) -> Option<(&str, &str)> {
    let scope_end = if specifier.starts_with('@') {
        specifier.find('/')? + 1
    } else {
        0
    };
    let end = specifier[scope_end..]
        .find('/')
        .map_or(specifier.len(), |slash| scope_end + slash);
    let name = &specifier[..end];
    let rest = specifier.get(end + 1..).unwrap_or("");
    (!name.is_empty() && end > scope_end).then_some((name, rest))
}

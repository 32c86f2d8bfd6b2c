//! The manifests of a tree by kind, and the references between them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::resolve::manifests::dependency::split_package_name;
use crate::resolve::manifests::package_json::PackageJson;
use crate::resolve::manifests::package_targets::replace_stars;
use crate::resolve::manifests::python::PythonManifest;
use crate::resolve::manifests::tsconfig::{Options, RawConfig, effective_options};
use crate::resolve::manifests::workspace::Workspace;
use crate::resolve::manifests::{MAX_MANIFEST_VALUES, Manifests, ParsedManifest};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{folder, is_within, joined};
use crate::resolve::projects::context::GoverningConfig;
use crate::resolve::projects::package_links::{Links, find_links};
use crate::resolve::symlinks::{real_path, symlinks};

/// Most configs that are reached from one by `references`.
const MAX_REFERENCES: usize = 256;

/// Most references of all configs together that are followed.
const MAX_ALL_REFERENCES: usize = 1_000_000;

/// The manifests of a tree by kind.
pub(super) struct ManifestIndex<'a> {
    pub(super) table: &'a PathTable,
    /// The files beside `package.json` that make a folder a workspace.
    pub(super) workspaces: BTreeMap<&'a str, Vec<&'a Workspace>>,
    pub(super) packages: BTreeMap<&'a str, &'a Arc<PackageJson>>,
    pub(super) configs: BTreeMap<&'a str, &'a RawConfig>,
    /// The configs with aliases by folder: path and content.
    pub(super) aliases: BTreeMap<&'a str, Vec<(&'a str, &'a ParsedManifest)>>,
    pub(super) python: Vec<(&'a str, &'a PythonManifest)>,
    pub(super) links: Links,
    /// Room for values that occur at more than one path.
    room: ValuePool,
    /// Paths of manifests that had no room.
    pub(super) left_out: BTreeSet<String>,
}

/// Room for values of manifests: links and `extends` can make a graph store the values of one text many times. After
/// the first values without room, the pool is empty, so that further values are not even counted.
#[derive(Debug)]
pub(super) struct ValuePool(pub(super) usize);

impl ValuePool {
    /// Takes room for as many values as `count` returns. Returns whether there was enough.
    pub(super) fn take(&mut self, count: impl FnOnce() -> usize) -> bool {
        let rest = if self.0 == 0 { None } else { self.0.checked_sub(count()) };
        self.0 = rest.unwrap_or_default();
        rest.is_some()
    }
}

impl<'a> ManifestIndex<'a> {
    pub(super) fn new(table: &'a PathTable, manifests: &'a Manifests) -> Self {
        let mut packages = BTreeMap::new();
        let mut configs = BTreeMap::new();
        let mut workspaces: BTreeMap<&str, Vec<&Workspace>> = BTreeMap::new();
        let mut aliases: BTreeMap<&str, Vec<(&str, &ParsedManifest)>> = BTreeMap::new();
        let mut python = Vec::new();
        let links = symlinks(manifests);
        let mut room = ValuePool(MAX_MANIFEST_VALUES);
        let mut left_out = BTreeSet::new();
        for (path, manifest) in manifests {
            // A linked manifest counts at the path of the link as well.
            let is_link = matches!(**manifest, ParsedManifest::Link(_));
            let target = if is_link {
                real_path(&links, path).and_then(|path| manifests.get(&path))
            } else {
                Some(manifest)
            };
            let Some(parsed) = target else { continue };
            if is_link && !room.take(|| parsed.value_count(path)) {
                left_out.insert(path.clone());
                continue;
            }
            match &**parsed {
                ParsedManifest::Package(manifest) => drop(packages.insert(folder(path), manifest)),
                ParsedManifest::Config(config) => drop(configs.insert(path.as_str(), &**config)),
                ParsedManifest::Framework(_) | ParsedManifest::Vite(_) => {
                    aliases
                        .entry(folder(path))
                        .or_default()
                        .push((path.as_str(), &**parsed));
                }
                ParsedManifest::Deno(config) => {
                    aliases
                        .entry(folder(path))
                        .or_default()
                        .push((path.as_str(), &**parsed));
                    if let Some(workspace) = &config.workspace {
                        workspaces.entry(folder(path)).or_default().push(workspace);
                    }
                    // `package.json` comes later in the order of paths, so it replaces this one.
                    if let Some(package) = &config.package {
                        packages.insert(folder(path), package);
                    }
                }
                ParsedManifest::Workspace(workspace) => workspaces.entry(folder(path)).or_default().push(workspace),
                ParsedManifest::Python(manifest) => python.push((folder(path), &**manifest)),
                // Manifests of other families.
                ParsedManifest::Cargo(_)
                | ParsedManifest::GoModule(_)
                | ParsedManifest::GoWorkspace(_)
                | ParsedManifest::Link(_)
                | ParsedManifest::Nothing => {}
            }
        }
        let links = find_links(&packages, &workspaces);
        ManifestIndex {
            table,
            workspaces,
            packages,
            configs,
            aliases,
            python,
            links,
            room,
            left_out,
        }
    }

    /// Adds the packages in folders that are links, such as those of a tracked `node_modules`.
    pub(super) fn add_linked(&mut self, manifests: &'a Manifests) {
        let before = self.packages.len();
        for (path, id) in self.table.linked_paths() {
            if path.ends_with("/package.json")
                && let Some(parsed) = manifests.get(self.table.path(*id))
                && let ParsedManifest::Package(manifest) = &**parsed
            {
                if !self.room.take(|| parsed.value_count(path)) {
                    self.left_out.insert(self.table.path(*id).to_owned());
                    continue;
                }
                self.packages.entry(folder(path)).or_insert(manifest);
            }
        }
        if self.packages.len() > before {
            self.links = find_links(&self.packages, &self.workspaces);
        }
    }

    /// The path of the config that `extends` in a file of `here` refers to.
    fn locate(&self, here: &str, extends: &str) -> Option<String> {
        let is_tracked = |path: &String| self.table.tracked_file(path).is_some();
        if extends.starts_with('.') {
            let base = joined(here, extends)?;
            return [base.clone(), format!("{base}.json"), format!("{base}/tsconfig.json")]
                .into_iter()
                .find(is_tracked);
        }
        let (name, rest) = split_package_name(extends)?;
        let link = self.links.get(name)?.iter().find(|link| is_within(here, &link.scope))?;
        let manifest = self.packages.get(link.folder.as_str())?;
        if rest.is_empty() {
            return joined(&link.folder, manifest.tsconfig.as_deref().unwrap_or("tsconfig.json")).filter(is_tracked);
        }
        let exported = manifest
            .exports_target(&format!("./{rest}"))
            .and_then(|(target, matched)| replace_stars(target.text()?, matched));
        let base = joined(&link.folder, rest)?;
        exported
            .and_then(|target| joined(&link.folder, &target))
            .into_iter()
            .chain([base.clone(), format!("{base}.json"), format!("{base}/tsconfig.json")])
            .find(is_tracked)
    }

    /// The options of the config at `path`. `remaining` is the number of values that configs may still inherit; `None`
    /// if the config has more.
    pub(super) fn options(&self, path: &str, remaining: &mut usize) -> Option<Options> {
        let read = |path: &str| self.configs.get(path).copied();
        effective_options(path, &read, &|here, extends| self.locate(here, extends), remaining)
    }

    /// The path of the config that a reference means: a file, or a folder with a `tsconfig.json`.
    fn resolve_reference(&self, from: &str, reference: &str) -> Option<&'a str> {
        let path = joined(folder(from), reference)?;
        let in_folder = joined(&path, "tsconfig.json")?;
        let (config, _) = self
            .configs
            .get_key_value(path.as_str())
            .or_else(|| self.configs.get_key_value(in_folder.as_str()))?;
        Some(config)
    }

    /// The configs that govern files, by their folder.
    pub(super) fn governing_configs(
        &self,
        options: &HashMap<&str, Arc<Options>>,
    ) -> HashMap<String, Vec<GoverningConfig>> {
        let mut governing: HashMap<String, Vec<GoverningConfig>> = HashMap::new();
        let mut reference_count = 0;
        // tsconfig before jsconfig: the first one found counts as the nearest.
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
                        reference_count += 1;
                        if candidates.len() >= MAX_REFERENCES || reference_count > MAX_ALL_REFERENCES {
                            break;
                        }
                        if let Some(next) = self.resolve_reference(config, reference)
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
                governing.entry(folder(path).to_owned()).or_default().push(candidates);
            }
        }
        governing
    }
}

/// Configs that other configs extend or refer to, which exist in the tree but are not among `manifests` yet. Call it
/// again after reading them, because they may refer to more configs.
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
        .filter(|path| path.ends_with(".json") && !manifests.contains_key(path) && table.tracked_file(path).is_some())
        .collect()
}

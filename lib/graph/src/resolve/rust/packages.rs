//! Packages of a tree: their crate roots, and their names in code for other packages of the tree.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::resolve::manifests::cargo_toml::{CargoManifest, Dependency, Edition, PackageSection, TargetKind};
use crate::resolve::manifests::{Manifests, ParsedManifest};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{around, folder, joined};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Package {
    pub(crate) folder: String,
    /// Whether `use` begins at the crate's root.
    pub(crate) is_2015: bool,
    /// The library's root, if the tree has it.
    pub(crate) lib: Option<String>,
    /// Name in code -> the root of that library.
    pub(crate) crates: BTreeMap<String, String>,
}

/// Most packages of one file. Real code has one or two. The bound limits the work for hostile manifests.
pub(crate) const MAX_PACKAGES: usize = 32;

/// All packages, by folder.
pub(crate) type Packages = BTreeMap<String, Package>;

/// Root of a crate -> the folders of the packages with that target, at most [`MAX_PACKAGES`], in order.
pub(crate) type Owners = BTreeMap<String, Vec<String>>;

/// The packages that `manifests` describe, and the roots of all their crates.
pub(crate) fn packages(table: &PathTable, manifests: &Manifests) -> (Packages, Owners) {
    let index = Index::new(table, manifests);
    let mut packages = Packages::new();
    let mut owners = Owners::new();
    for (here, manifest) in &index.manifests {
        let Some(section) = &manifest.package else { continue };
        let workspace = index.workspace(here, section);
        let edition = match section.edition {
            Edition::Workspace => workspace
                .and_then(|(_, manifest)| manifest.workspace.as_ref())
                .map_or(Edition::Of2015, |workspace| workspace.edition),
            edition => edition,
        };
        let lib = index.libs.get(*here);
        let mut crates = BTreeMap::new();
        for dependency in &manifest.dependencies {
            crates.extend(index.local_crate(here, dependency, workspace));
        }
        crates.extend(lib.map(|lib| (lib.name.clone(), lib.path.clone())));
        for root in index.roots(here, manifest, section) {
            let folders: &mut Vec<String> = owners.entry(root).or_default();
            if folders.len() < MAX_PACKAGES {
                folders.push((*here).to_owned());
            }
        }
        let package = Package {
            folder: (*here).to_owned(),
            is_2015: edition == Edition::Of2015,
            lib: lib.map(|lib| lib.path.clone()),
            crates,
        };
        packages.insert((*here).to_owned(), package);
    }
    (packages, owners)
}

struct Lib {
    /// Name in code.
    name: String,
    path: String,
}

struct Index<'a> {
    table: &'a PathTable,
    manifests: BTreeMap<&'a str, &'a CargoManifest>,
    libs: HashMap<&'a str, Lib>,
    /// Folder of a workspace and key in its table -> the dependency.
    workspace_dependencies: HashMap<(&'a str, &'a str), &'a Dependency>,
    patches: HashMap<(&'a str, &'a str), &'a Dependency>,
}

/// The manifest of a workspace, with its folder.
type Workspace<'a> = Option<(&'a str, &'a CargoManifest)>;

impl<'a> Index<'a> {
    fn new(table: &'a PathTable, manifests: &'a Manifests) -> Self {
        let mut index = Index {
            table,
            manifests: BTreeMap::new(),
            libs: HashMap::new(),
            workspace_dependencies: HashMap::new(),
            patches: HashMap::new(),
        };
        for (path, parsed) in manifests {
            if let ParsedManifest::Cargo(manifest) = &**parsed {
                index.manifests.insert(folder(path), manifest);
            }
        }
        for (here, manifest) in &index.manifests {
            if let Some(section) = &manifest.package
                && let Some(lib) = index.lib(here, manifest, section)
            {
                index.libs.insert(here, lib);
            }
            for dependency in manifest.workspace.iter().flat_map(|workspace| &workspace.dependencies) {
                index.workspace_dependencies.insert((here, &dependency.key), dependency);
            }
            for patch in &manifest.patches {
                let name = patch.package.as_ref().unwrap_or(&patch.key);
                index.patches.insert((here, name), patch);
            }
        }
        index
    }

    fn exists(&self, path: &str) -> bool {
        self.table.file_untraced(path).is_some()
    }

    fn lib(&self, here: &str, manifest: &CargoManifest, section: &PackageSection) -> Option<Lib> {
        let target = manifest.targets.iter().find(|target| target.kind == TargetKind::Lib);
        let path = target.and_then(|lib| lib.path.as_deref()).unwrap_or("src/lib.rs");
        let name = target.and_then(|lib| lib.name.as_ref()).unwrap_or(&section.name);
        Some(Lib {
            name: name.replace('-', "_"),
            path: joined(here, path).filter(|path| self.exists(path.as_str()))?,
        })
    }

    /// The workspace of the package in `here`: the one that it names, or the nearest at or above `here`.
    fn workspace(&self, here: &str, section: &PackageSection) -> Workspace<'a> {
        let workspace_at = |dir: &str| {
            let (dir, manifest) = self.manifests.get_key_value(dir)?;
            manifest.workspace.is_some().then_some((*dir, *manifest))
        };
        if let Some(folder) = &section.workspace {
            return workspace_at(&joined(here, folder)?);
        }
        around(here).find_map(workspace_at)
    }

    /// The name in code, and the library's root, of a dependency within the tree.
    fn local_crate(&self, here: &str, dependency: &Dependency, workspace: Workspace<'_>) -> Option<(String, String)> {
        let (mut base, mut origin) = (here, dependency);
        if dependency.inherits_workspace {
            let (dir, _) = workspace?;
            (base, origin) = (dir, *self.workspace_dependencies.get(&(dir, dependency.key.as_str()))?);
        }
        let is_renamed = origin.package.is_some();
        if origin.path.is_none() {
            let (dir, _) = workspace.or_else(|| Some((here, *self.manifests.get(here)?)))?;
            let name = origin.package.as_ref().unwrap_or(&origin.key);
            (base, origin) = (dir, *self.patches.get(&(dir, name.as_str()))?);
        }
        let lib = self.libs.get(joined(base, origin.path.as_ref()?)?.as_str())?;
        let name = if is_renamed {
            dependency.key.replace('-', "_")
        } else {
            lib.name.clone()
        };
        Some((name, lib.path.clone()))
    }

    /// The crate roots of one package.
    fn roots(&self, here: &str, manifest: &CargoManifest, section: &PackageSection) -> BTreeSet<String> {
        let mut roots = BTreeSet::new();
        let mut add = |path: Option<String>| {
            let path = path.filter(|path| self.exists(path.as_str()));
            let exists = path.is_some();
            roots.extend(path);
            exists
        };
        add(self.libs.get(here).map(|lib| lib.path.clone()));
        match &section.build {
            None => add(joined(here, "build.rs")),
            Some(path) => add(path.as_ref().and_then(|path| joined(here, path))),
        };
        for (kind, _, dir, _) in TargetKind::REPEATABLE {
            for target in manifest.targets.iter().filter(|target| target.kind == kind) {
                if let Some(path) = &target.path {
                    add(joined(here, path));
                    continue;
                }
                let name = target.name.as_ref().unwrap_or(&section.name);
                let _ = add(joined(here, &format!("{dir}/{name}.rs")))
                    || add(joined(here, &format!("{dir}/{name}/main.rs")))
                    || (kind == TargetKind::Bin && add(joined(here, "src/main.rs")));
            }
            if section.undiscovered_kinds.contains(&kind) {
                continue;
            }
            if kind == TargetKind::Bin {
                add(joined(here, "src/main.rs"));
            }
            for entry in joined(here, dir).map_or(&[][..], |dir| self.table.entries_below(&dir)) {
                let inside = entry.path.get(here.len()..).unwrap_or("").trim_start_matches('/');
                let inside = inside.get(dir.len() + 1..).unwrap_or("");
                let is_root = match inside.split_once('/') {
                    None => inside.ends_with(".rs"),
                    Some((_, rest)) => rest == "main.rs",
                };
                if is_root {
                    add(Some(entry.path.clone()));
                }
            }
        }
        roots
    }
}

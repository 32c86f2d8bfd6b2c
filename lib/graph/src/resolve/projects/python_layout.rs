//! The folders and packages that all manifests of Python name together.

use std::collections::{BTreeMap, BTreeSet};

use crate::resolve::manifests::python::PythonManifest;
use crate::resolve::paths::joined;

/// Most patterns, and names of marker files, of all manifests. Each is compared with every folder.
const MAX_PATTERNS: usize = 32;

/// The facts in the manifests of Python, with paths from the repository's root on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PythonLayout {
    /// A folder on Python's path -> the folder of the manifest that names it.
    pub(crate) roots: BTreeMap<String, String>,
    /// Folders whose own packages are installed.
    pub(crate) flat: BTreeSet<String>,
    /// Folders that are on Python's path for the files below them.
    pub(crate) local: BTreeSet<String>,
    /// Name of a package -> its folders, where their own names are others.
    pub(crate) packages: BTreeMap<String, BTreeSet<String>>,
    /// Folder of a project -> the folders of projects in the repository that it requires.
    pub(crate) required: BTreeMap<String, BTreeSet<String>>,
    /// The folder of a manifest, and a pattern of source roots below it.
    pub(crate) patterns: BTreeSet<(String, String)>,
    /// The folder of a manifest, and the name of a file that makes a folder below it a source root.
    pub(crate) markers: BTreeSet<(String, String)>,
}

impl PythonLayout {
    /// `manifests` are sorted by path, each with its folder.
    pub(super) fn new(manifests: &[(&str, &PythonManifest)]) -> Self {
        let mut layout = PythonLayout::default();
        for (here, manifest) in manifests {
            for (is_source, named) in [(true, &manifest.sources), (false, &manifest.search_paths)] {
                for root in named.iter().filter_map(|folder| joined(here, folder)) {
                    if root != *here {
                        layout.roots.entry(root).or_insert_with(|| (*here).to_owned());
                    } else if is_source {
                        layout.flat.insert(root);
                    } else {
                        layout.local.insert(root);
                    }
                }
            }
            for (name, path) in &manifest.packages {
                if let Some(path) = joined(here, path) {
                    layout.packages.entry(name.clone()).or_default().insert(path);
                }
            }
            for pattern in &manifest.patterns {
                match pattern.strip_prefix('/').filter(|path| !path.contains('*')) {
                    Some(path) => {
                        if let Some(root) = joined(here, path).filter(|root| root != here) {
                            layout.roots.entry(root).or_insert_with(|| (*here).to_owned());
                        }
                    }
                    None if layout.patterns.len() < MAX_PATTERNS => {
                        layout.patterns.insert(((*here).to_owned(), pattern.clone()));
                    }
                    None => {}
                }
            }
            for marker in &manifest.markers {
                if layout.markers.len() < MAX_PATTERNS {
                    layout.markers.insert(((*here).to_owned(), marker.clone()));
                }
            }
        }
        // A project that names no folder has its packages in its own, as build tools find them by default.
        let names_some = |manifest: &PythonManifest| !manifest.sources.is_empty() || !manifest.packages.is_empty();
        let naming = manifests.iter().filter(|(_, manifest)| names_some(manifest));
        let naming: BTreeSet<&str> = naming.map(|(here, _)| *here).collect();
        let projects = manifests.iter().filter(|(_, manifest)| manifest.is_project);
        let flat = projects.map(|(here, _)| *here).filter(|here| !naming.contains(here));
        layout.flat.extend(flat.map(str::to_owned));
        layout.required = required(manifests);
        layout
    }
}

/// Folder of a project -> the folders of projects that it requires, by names that one project alone has.
fn required(manifests: &[(&str, &PythonManifest)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut named: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for (here, manifest) in manifests {
        if let Some(name) = &manifest.name {
            let known = named.entry(name).or_insert(Some(here));
            // The manifests of one folder may repeat its name.
            *known = known.filter(|known| known == here);
        }
    }
    let mut required: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (here, manifest) in manifests {
        let folders = manifest.requires.iter().filter_map(|name| *named.get(name.as_str())?);
        for folder in folders.filter(|folder| folder != here) {
            required
                .entry((*here).to_owned())
                .or_default()
                .insert(folder.to_owned());
        }
    }
    required
}

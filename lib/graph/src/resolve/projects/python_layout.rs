//! The folders and packages that all Python manifests declare together.

use std::collections::{BTreeMap, BTreeSet};

use crate::resolve::manifests::python::PythonManifest;
use crate::resolve::paths::joined;

/// Most patterns, and names of marker files, of all manifests. Each is compared with every folder.
const MAX_PATTERNS: usize = 32;

/// The facts in Python manifests. Paths are relative to the repository root.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PythonLayout {
    /// A folder on Python's path -> the folder of the manifest that declares it.
    pub(crate) roots: BTreeMap<String, String>,
    /// Folders whose own packages are installed.
    pub(crate) flat: BTreeSet<String>,
    /// Folders that are on Python's path for the files below them.
    pub(crate) local: BTreeSet<String>,
    /// Name of a package -> its folders, if their own names differ from it.
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
            for (is_source, folders) in [(true, &manifest.sources), (false, &manifest.search_paths)] {
                for root in folders.iter().filter_map(|folder| joined(here, folder)) {
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
        // A project that declares no folder has its packages in its own folder, where build tools look by default.
        let declares = |manifest: &PythonManifest| !manifest.sources.is_empty() || !manifest.packages.is_empty();
        let declaring = manifests.iter().filter(|(_, manifest)| declares(manifest));
        let declaring_folders: BTreeSet<&str> = declaring.map(|(here, _)| *here).collect();
        let projects = manifests.iter().filter(|(_, manifest)| manifest.is_project);
        let flat = projects
            .map(|(here, _)| *here)
            .filter(|here| !declaring_folders.contains(here));
        layout.flat.extend(flat.map(str::to_owned));
        layout.required = required_projects(manifests);
        layout
    }
}

/// Folder of a project -> the folders of projects that it requires. A requirement counts if exactly one project has its
/// name.
fn required_projects(manifests: &[(&str, &PythonManifest)]) -> BTreeMap<String, BTreeSet<String>> {
    // The folder of the project with each name. `None` if several projects have the name.
    let mut folder_of: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for (here, manifest) in manifests {
        if let Some(name) = &manifest.name {
            let folder = folder_of.entry(name).or_insert(Some(here));
            // The manifests of one folder may repeat its name.
            *folder = folder.filter(|folder| folder == here);
        }
    }
    let mut required: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (here, manifest) in manifests {
        let names = manifest.requires.iter();
        let folders = names.filter_map(|name| *folder_of.get(name.as_str())?);
        for folder in folders.filter(|folder| folder != here) {
            required
                .entry((*here).to_owned())
                .or_default()
                .insert(folder.to_owned());
        }
    }
    required
}

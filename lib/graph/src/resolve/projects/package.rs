//! A package of the tree: its folder, its manifest, and the sources of its built files.

use std::collections::HashMap;
use std::sync::Arc;

use crate::resolve::manifests::package_json::PackageJson;
use crate::resolve::manifests::tsconfig::Options;
use crate::resolve::paths::joined;

/// A package of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Package {
    /// Its folder, `""` at the root.
    pub(crate) folder: String,
    pub(crate) manifest: Arc<PackageJson>,
    /// Pairs of an output folder and its source folder, by the package's own tsconfigs.
    pub(crate) output_folders: Vec<(String, String)>,
}

impl Package {
    /// The path that `target` (relative to the package) means; `None` when it is outside the repository.
    pub(crate) fn path(&self, target: &str) -> Option<String> {
        joined(&self.folder, target)
    }
}

/// Pairs of an output folder and its source folder, by the configs in the package's own folder.
pub(super) fn output_folders(package: &str, options: &HashMap<&str, Arc<Options>>) -> Vec<(String, String)> {
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

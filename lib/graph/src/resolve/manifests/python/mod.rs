//! Manifests and configurations of Python: the folders that they put on Python's path, and the packages that they install. Only
//! literal values count: nothing is run, and a computed value is ignored.
//!
//! - [`pyproject`] reads `pyproject.toml`, and the TOML of other tools (`pants.toml`, `ruff.toml`, `ty.toml`)
//! - [`ini`] reads `setup.cfg`, and the configurations of pytest and mypy
//! - [`script`] reads `setup.py`, and the `build.py` of PyBuilder
//! - [`pyright`] reads `pyrightconfig.json`

pub(crate) mod ini;
pub(crate) mod pyproject;
pub(crate) mod pyright;
pub(crate) mod script;

use crate::resolve::paths::folder;

/// The facts of one file. Folders are relative to that of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PythonManifest {
    /// Folders whose packages are built and installed.
    pub(crate) sources: Vec<String>,
    /// Folders that a tool adds to Python's path.
    pub(crate) search_paths: Vec<String>,
    /// Name of a package -> its folder, where the folder's own name is another.
    pub(crate) packages: Vec<(String, String)>,
    /// Patterns of source roots, as Pants has them: the end of a folder's path, or all of it after a leading `/`.
    pub(crate) patterns: Vec<String>,
    /// Names of files that make their folder a source root.
    pub(crate) markers: Vec<String>,
    /// Whether the folder is a project that is installed.
    pub(crate) is_project: bool,
    /// Its name, as in requirements.
    pub(crate) name: Option<String>,
    /// Names of projects that it requires.
    pub(crate) requires: Vec<String>,
}

/// The name that a requirement begins with, in the one spelling that all spellings of it share.
fn required_name(requirement: &str) -> String {
    let is_name = |one: &char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.');
    let name = requirement.trim_start().chars().take_while(is_name);
    let spelled: String = name
        .map(|one| {
            if one.is_ascii_alphanumeric() {
                one.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    spelled
        .split('-')
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

impl PythonManifest {
    /// Number of values in it.
    pub(crate) fn values(&self) -> usize {
        let lists = [
            &self.sources,
            &self.search_paths,
            &self.patterns,
            &self.markers,
            &self.requires,
        ];
        1 + self.packages.len() + lists.iter().map(|list| list.len()).sum::<usize>()
    }

    /// Adds the package `name`, whose folder is `path`; `""` is the folder of all packages.
    fn add_package(&mut self, name: &str, path: &str) {
        let path = path.trim_end_matches('/');
        let as_path = name.replace('.', "/");
        match path.strip_suffix(&as_path) {
            _ if name.is_empty() => self.sources.push(path.to_owned()),
            Some("") => self.sources.push(".".to_owned()),
            Some(root) if root.ends_with('/') => self.sources.push(root.trim_end_matches('/').to_owned()),
            _ => self.packages.push((name.to_owned(), path.to_owned())),
        }
    }

    /// Adds the folder around the package at `path`.
    fn add_folder_of(&mut self, path: &str) {
        match folder(path.trim_end_matches('/')) {
            "" => self.sources.push(".".to_owned()),
            folder => self.sources.push(folder.to_owned()),
        }
    }

    /// Adds folders of `mypy_path`, which may begin at the folder of the configuration.
    fn add_mypy_path(&mut self, path: &str) {
        let parts = path
            .split([':', ',', '\n'])
            .map(str::trim)
            .filter(|part| !part.is_empty());
        let own = |part: &str| {
            let rest = part.strip_prefix("$MYPY_CONFIG_FILE_DIR");
            rest.map_or(part, |rest| rest.trim_start_matches('/')).to_owned()
        };
        self.search_paths.extend(parts.map(own));
    }
}

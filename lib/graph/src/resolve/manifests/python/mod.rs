//! Manifests and configurations of Python: the folders that they put on Python's path, and the packages that they
//! install. Only literal values count: the parser runs nothing, and ignores a computed value.
//!
//! - [`pyproject`] reads `pyproject.toml`, and the TOML of other tools (`pants.toml`, `ruff.toml`, `ty.toml`)
//! - [`ini`] reads `setup.cfg`, and the configurations of pytest and mypy
//! - [`script`] reads `setup.py`, and the `build.py` of PyBuilder

pub(crate) mod ini;
pub(crate) mod pyproject;
pub(crate) mod script;

use crate::resolve::manifests::json::Json;
use crate::resolve::paths::folder;

/// The facts of one file. Folders are relative to that of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PythonManifest {
    /// Folders whose packages are built and installed.
    pub(crate) sources: Vec<String>,
    /// Folders that a tool adds to Python's path.
    pub(crate) search_paths: Vec<String>,
    /// Name of a package -> its folder, if the folder's own name differs from it.
    pub(crate) packages: Vec<(String, String)>,
    /// Patterns of source roots as in Pants: the end of a folder's path, or the whole path after a leading `/`.
    pub(crate) patterns: Vec<String>,
    /// Names of files that make their folder a source root.
    pub(crate) markers: Vec<String>,
    /// Whether the folder is a project that can be installed.
    pub(crate) is_project: bool,
    /// The name of the project, normalized as in requirements.
    pub(crate) name: Option<String>,
    /// Normalized names of projects that it requires.
    pub(crate) requires: Vec<String>,
}

/// The name that a requirement begins with, normalized: all spellings of one name give the same result.
fn required_name(requirement: &str) -> String {
    let is_name = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    let name = requirement.trim_start().chars().take_while(is_name);
    let normalized: String = name
        .map(|char| {
            if char.is_ascii_alphanumeric() {
                char.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    normalized
        .split('-')
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

impl PythonManifest {
    /// Reads `pyrightconfig.json`.
    pub(crate) fn of_pyright(text: &str) -> Self {
        let config = Json::parse(text).unwrap_or(Json::Null);
        let extra = |json: &Json| json.get("extraPaths").and_then(Json::texts).unwrap_or_default();
        let mut manifest = PythonManifest {
            search_paths: extra(&config),
            ..PythonManifest::default()
        };
        let environments = config.get("executionEnvironments").and_then(Json::list);
        for environment in environments.unwrap_or_default() {
            let root = environment.get("root").and_then(Json::text).map(str::to_owned);
            manifest.search_paths.extend(root);
            manifest.search_paths.extend(extra(environment));
        }
        manifest
    }

    /// The number of values in it.
    pub(crate) fn value_count(&self) -> usize {
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

    /// Adds the folders in which setuptools finds packages. If the manifest has packages but names no folder, they are
    /// in the manifest's own folder.
    fn add_setuptools_sources(&mut self, folders: Vec<String>, has_packages: bool) {
        if has_packages && folders.is_empty() && self.sources.is_empty() && self.packages.is_empty() {
            self.sources.push(".".to_owned());
        }
        self.sources.extend(folders);
    }

    /// Adds the folder that contains the package at `path`.
    fn add_folder_of(&mut self, path: &str) {
        match folder(path.trim_end_matches('/')) {
            "" => self.sources.push(".".to_owned()),
            folder => self.sources.push(folder.to_owned()),
        }
    }

    /// Adds the folders of `mypy_path`, which may begin with a variable for the configuration's folder.
    fn add_mypy_path(&mut self, path: &str) {
        let folders = path
            .split([':', ',', '\n'])
            .map(str::trim)
            .filter(|folder| !folder.is_empty());
        let relative = |folder: &str| {
            let rest = folder.strip_prefix("$MYPY_CONFIG_FILE_DIR");
            rest.map_or(folder, |rest| rest.trim_start_matches('/')).to_owned()
        };
        self.search_paths.extend(folders.map(relative));
    }
}

#[test]
fn search_paths_are_those_of_all_environments() {
    let text = "{ // comment\n \"extraPaths\": [\"a\"], \"executionEnvironments\": [{\"root\": \"b\", \"extraPaths\": [\"c\", 1]}, 2] }";
    assert_eq!(PythonManifest::of_pyright(text).search_paths, ["a", "b", "c"]);
    assert_eq!(PythonManifest::of_pyright("["), PythonManifest::default());
}

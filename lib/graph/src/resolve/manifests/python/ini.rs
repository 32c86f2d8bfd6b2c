//! `setup.cfg`, and the INI files of pytest, tox and mypy.

use super::{PythonManifest, required_name};

impl PythonManifest {
    /// Reads any of these files. One function suffices, because the relevant sections have different names in each.
    pub(crate) fn of_ini(text: &str) -> Self {
        let mut manifest = PythonManifest::default();
        let mut has_packages = false;
        let mut folders = Vec::new();
        for (section, key, value) in entries(text) {
            let words = || value.split_whitespace().map(str::to_owned);
            match (section, key) {
                ("metadata", "name") => {
                    manifest.is_project = true;
                    manifest.name = Some(required_name(&value));
                }
                ("options", "install_requires") => {
                    let names = value.lines().map(required_name);
                    manifest.requires.extend(names.filter(|name| !name.is_empty()));
                }
                ("options", "package_dir" | "package-dir") => {
                    for (name, path) in value.split(['\n', ',']).filter_map(|line| line.split_once('=')) {
                        manifest.add_package(name.trim(), path.trim());
                    }
                }
                ("options", "packages" | "py_modules" | "py-modules") => has_packages |= !value.trim().is_empty(),
                ("options.packages.find", "where") => {
                    has_packages = true;
                    folders.extend(value.split(['\n', ',']).map(|folder| folder.trim().to_owned()));
                }
                ("pytest" | "tool:pytest", "pythonpath") => manifest.search_paths.extend(words()),
                ("mypy", "mypy_path") => manifest.add_mypy_path(&value),
                _ => {}
            }
            manifest.is_project |= section == "options";
        }
        folders.retain(|folder| !folder.is_empty());
        manifest.add_setuptools_sources(folders, has_packages);
        manifest
    }
}

/// Section, key and value of each entry. An indented line continues the value before it.
fn entries(text: &str) -> Vec<(&str, &str, String)> {
    let mut entries: Vec<(&str, &str, String)> = Vec::new();
    let mut section = "";
    let mut is_open = false;
    for line in text.lines() {
        let content = line.trim();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            if let Some((.., value)) = entries.last_mut().filter(|_| is_open) {
                value.push('\n');
                value.push_str(content);
            }
            continue;
        }
        is_open = false;
        if let Some(name) = content.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            section = name.trim();
        } else if let Some((key, value)) = content.split_once(['=', ':']) {
            entries.push((section, key.trim(), value.trim().to_owned()));
            is_open = true;
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setup_cfg_names_folders_and_packages() {
        for (text, expected) in [
            (
                "[options]\npackage_dir =\n    = code\npackages = find:\n",
                &["code"][..],
            ),
            (
                "[options]\npackage_dir =\n\t=code\n[options.packages.find]\nwhere = code\n",
                &["code", "code"],
            ),
            (
                "[options]\npackages = find:\n[options.packages.find]\nwhere = lib, more\n",
                &["lib", "more"],
            ),
            ("[options]\npackages =\n  a\n  a.b\n", &["."]),
            ("[options]\npackages = find_namespace:\n", &["."]),
            ("[options]\npy_modules = a\n", &["."]),
            ("[options]\ninstall_requires = a\n", &[]),
            ("[flake8]\npackages = a\n", &[]),
            ("[options", &[]),
        ] {
            assert_eq!(PythonManifest::of_ini(text).sources, expected, "{text}");
        }
        let moved = PythonManifest::of_ini("[options]\npackage_dir =\n  a = code\n  # = no\n  b.c = lib/b/c\n");
        assert_eq!(moved.packages, [("a".to_owned(), "code".to_owned())]);
        assert_eq!(moved.sources, ["lib"]);
    }

    #[test]
    fn pytest_and_mypy_name_search_paths() {
        for (text, expected) in [
            ("[pytest]\npythonpath = lib more\n", &["lib", "more"][..]),
            ("[tool:pytest]\npythonpath =\n  lib\n  more\n", &["lib", "more"]),
            ("[mypy]\nmypy_path: $MYPY_CONFIG_FILE_DIR:lib\n", &["", "lib"]),
            ("[tox]\npythonpath = lib\n", &[]),
        ] {
            assert_eq!(PythonManifest::of_ini(text).search_paths, expected, "{text}");
        }
    }

    #[test]
    fn a_project_has_a_name_or_options() {
        let named = PythonManifest::of_ini("[metadata]\nname = a\n[options]\ninstall_requires =\n  B_c>=1\n  d\n");
        assert!(named.is_project);
        assert_eq!(
            (named.name.as_deref(), named.requires),
            (Some("a"), vec!["b-c".to_owned(), "d".to_owned()])
        );
        assert!(PythonManifest::of_ini("[options]\nzip_safe = 0\n").is_project);
        assert!(!PythonManifest::of_ini("[flake8]\nmax-line-length = 100\n").is_project);
    }
}

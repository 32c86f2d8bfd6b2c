//! `pyproject.toml`, and the TOML of single tools.

use toml::{Table, Value};

use super::{PythonManifest, required_name};

/// Source roots of Pants if `pants.toml` names none. `src` and the repository root always are source roots.
const PANTS_ROOTS: [&str; 2] = ["src/python", "src/py"];

impl PythonManifest {
    /// Reads `pyproject.toml`.
    pub(crate) fn of_pyproject(text: &str) -> Self {
        let root: Table = text.parse().unwrap_or_default();
        let mut manifest = PythonManifest {
            is_project: ["project", "build-system", "tool.poetry", "tool.flit"]
                .into_iter()
                .any(|path| at(&root, path).is_some()),
            ..PythonManifest::default()
        };
        manifest.read_requirements(&root);
        manifest.read_setuptools(&root);
        manifest.read_poetry(&root);
        manifest.read_hatch(&root);
        manifest.read_scikit_build(&root);
        for path in [
            "tool.pdm.build.package-dir",
            "tool.pdm.package-dir",
            "tool.maturin.python-source",
            "tool.uv.build-backend.module-root",
        ] {
            manifest.sources.extend(strings(&root, path));
        }
        for path in ["tool.pytest.ini_options.pythonpath", "tool.pytest.pythonpath"] {
            match at(&root, path) {
                Some(Value::String(line)) => manifest.search_paths.extend(line.split_whitespace().map(str::to_owned)),
                _ => manifest.search_paths.extend(strings(&root, path)),
            }
        }
        for path in strings(&root, "tool.mypy.mypy_path") {
            manifest.add_mypy_path(&path);
        }
        for tool in ["tool.pyright", "tool.basedpyright"] {
            manifest
                .search_paths
                .extend(strings(&root, &format!("{tool}.extraPaths")));
            for environment in tables(&root, &format!("{tool}.executionEnvironments")) {
                manifest.search_paths.extend(strings(environment, "root"));
                manifest.search_paths.extend(strings(environment, "extraPaths"));
            }
        }
        for path in [
            "tool.ty.environment.root",
            "tool.ty.environment.extra-paths",
            "tool.pyrefly.search-path",
        ] {
            manifest.search_paths.extend(strings(&root, path));
        }
        manifest.add_ruff_sources(strings(&root, "tool.ruff.src"));
        manifest
    }

    /// Reads `pants.toml`.
    pub(crate) fn of_pants(text: &str) -> Self {
        let root: Table = text.parse().unwrap_or_default();
        let mut patterns = strings(&root, "source.root_patterns");
        if at(&root, "source.root_patterns").is_none_or(|patterns| !patterns.is_array()) {
            patterns.extend(PANTS_ROOTS.map(str::to_owned));
        }
        PythonManifest {
            patterns,
            markers: strings(&root, "source.marker_filenames"),
            ..PythonManifest::default()
        }
    }

    /// Reads `ruff.toml`.
    pub(crate) fn of_ruff(text: &str) -> Self {
        let mut manifest = PythonManifest::default();
        manifest.add_ruff_sources(strings(&text.parse().unwrap_or_default(), "src"));
        manifest
    }

    /// Reads `ty.toml`.
    pub(crate) fn of_ty(text: &str) -> Self {
        let root: Table = text.parse().unwrap_or_default();
        let paths = ["environment.root", "environment.extra-paths"];
        PythonManifest {
            search_paths: paths.iter().flat_map(|path| strings(&root, path)).collect(),
            ..PythonManifest::default()
        }
    }

    fn add_ruff_sources(&mut self, sources: Vec<String>) {
        for source in sources {
            match source.contains('*') {
                true => self.patterns.push(format!("/{source}")),
                false => self.search_paths.push(source),
            }
        }
    }

    fn read_requirements(&mut self, root: &Table) {
        let name = ["project.name", "tool.poetry.name"]
            .into_iter()
            .find_map(|path| at(root, path)?.as_str());
        self.name = name.map(required_name);
        let mut requires = strings(root, "project.dependencies");
        for groups in ["project.optional-dependencies", "dependency-groups"] {
            for group in keys(root, groups) {
                requires.extend(strings(root, &format!("{groups}.{group}")));
            }
        }
        requires.extend(
            keys(root, "tool.poetry.dependencies")
                .chain(keys(root, "tool.poetry.dev-dependencies"))
                .cloned(),
        );
        for group in keys(root, "tool.poetry.group") {
            requires.extend(keys(root, &format!("tool.poetry.group.{group}.dependencies")).cloned());
        }
        self.requires = requires.iter().map(|requirement| required_name(requirement)).collect();
    }

    fn read_setuptools(&mut self, root: &Table) {
        let folders = at(root, "tool.setuptools.package-dir").and_then(Value::as_table);
        for (name, path) in folders.into_iter().flatten() {
            if let Some(path) = path.as_str() {
                self.add_package(name, path);
            }
        }
        let has_packages = ["tool.setuptools.packages", "tool.setuptools.py-modules"]
            .into_iter()
            .any(|path| at(root, path).is_some());
        self.add_setuptools_sources(strings(root, "tool.setuptools.packages.find.where"), has_packages);
    }

    fn read_poetry(&mut self, root: &Table) {
        for package in tables(root, "tool.poetry.packages") {
            let text = |key: &str| package.get(key).and_then(Value::as_str);
            let from = text("from").unwrap_or(".");
            match (text("to"), text("include")) {
                (Some(to), Some(include)) if !include.contains('*') => {
                    let name = format!("{to}/{include}").replace('/', ".");
                    self.add_package(&name, &format!("{from}/{include}"));
                }
                _ => self.sources.push(from.to_owned()),
            }
        }
    }

    fn read_hatch(&mut self, root: &Table) {
        for build in ["tool.hatch.build", "tool.hatch.build.targets.wheel"] {
            for package in strings(root, &format!("{build}.packages")) {
                self.add_folder_of(&package);
            }
            self.sources.extend(strings(root, &format!("{build}.sources")));
            self.sources.extend(strings(root, &format!("{build}.dev-mode-dirs")));
            for table in ["sources", "force-include"] {
                let targets = at(root, &format!("{build}.{table}")).and_then(Value::as_table);
                for (path, target) in targets.into_iter().flatten() {
                    if let Some(target) = target.as_str().filter(|target| !target.contains('.')) {
                        self.add_package(&target.trim_matches('/').replace('/', "."), path);
                    }
                }
            }
        }
    }

    fn read_scikit_build(&mut self, root: &Table) {
        let key = "tool.scikit-build.wheel.packages";
        for package in strings(root, key) {
            self.add_folder_of(&package);
        }
        for (name, path) in at(root, key).and_then(Value::as_table).into_iter().flatten() {
            if let Some(path) = path.as_str() {
                self.add_package(&name.replace('/', "."), path);
            }
        }
    }
}

/// The value at a path of keys, separated by dots.
fn at<'t>(table: &'t Table, path: &str) -> Option<&'t Value> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let value = table.get(first)?;
    if rest.is_empty() {
        return Some(value);
    }
    at(value.as_table()?, rest)
}

/// The string, or the strings of the array, at a path of keys.
fn strings(table: &Table, path: &str) -> Vec<String> {
    match at(table, path) {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The keys of the table at a path of keys.
fn keys<'t>(table: &'t Table, path: &str) -> impl Iterator<Item = &'t String> {
    at(table, path)
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(Table::keys)
}

/// The tables of the array at a path of keys.
fn tables<'t>(table: &'t Table, path: &str) -> impl Iterator<Item = &'t Table> {
    let items = at(table, path).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_build_tool_names_its_folders_in_its_own_way() {
        for (text, expected) in [
            (
                "[tool.setuptools.packages.find]\nwhere = [\n  \"lib\",\n  'more'\n]\n",
                &["lib", "more"][..],
            ),
            (
                "[tool.setuptools]\npackages = {find = {where = [\"python\"]}}",
                &["python"],
            ),
            ("[tool.setuptools.packages]\nfind = {where = [\"py\"]}", &["py"]),
            ("[tool.setuptools.packages.find]\ninclude = [\"a*\"]", &["."]),
            ("[tool.setuptools]\npackages = [\"a\"]", &["."]),
            ("[tool.setuptools]\npy-modules = [\"a\"]", &["."]),
            (
                "[tool.setuptools]\npackage-dir = {\"\" = \"code\"}\npackages = [\"a\"]",
                &["code"],
            ),
            ("[tool.setuptools.package-dir]\n'' = \"code\"", &["code"]),
            (
                "[tool.setuptools.package-dir]\na = \"lib/a\"\n\"b.c\" = \"b/c\"",
                &["lib", "."],
            ),
            (
                "[tool.poetry]\npackages = [{ include = \"a\", from = \"lib\" }]",
                &["lib"],
            ),
            ("[tool.poetry]\npackages = [{ include = \"a\" }]", &["."]),
            (
                "[[tool.poetry.packages]]\ninclude = \"ns/a\"\nfrom = \"../../bricks\"",
                &["../../bricks"],
            ),
            (
                "[tool.hatch.build.targets.wheel]\npackages = [\"python/a\"]",
                &["python"],
            ),
            (
                "[tool.hatch.build]\nsources = [\"python\"]\ndev-mode-dirs = [\".\"]",
                &["python", "."],
            ),
            ("[tool.hatch.build.targets.wheel.sources]\n\"code\" = \"\"", &["code"]),
            (
                "[tool.scikit-build]\nwheel.packages = [\"python/a\", \"src/b\"]",
                &["python", "src"],
            ),
            ("[tool.pdm.build]\npackage-dir = \"code\"", &["code"]),
            ("[tool.maturin]\npython-source = \"python\"", &["python"]),
            ("[tool.uv.build-backend]\nmodule-root = \"\"", &[""]),
            ("[project]\nname = \"x\"", &[]),
            ("[tool.setuptools.packages.find]\nwhere = [\"a", &[]),
            ("[tool]\nsetuptools = 1\npoetry = []\nhatch.build = \"a\"", &[]),
        ] {
            assert_eq!(PythonManifest::of_pyproject(text).sources, expected, "{text}");
        }
    }

    #[test]
    fn a_package_can_be_in_a_folder_of_another_name() {
        for (text, name, folder) in [
            ("[tool.setuptools.package-dir]\n\"a.b\" = \"code/b\"", "a.b", "code/b"),
            ("[tool.setuptools]\npackage-dir = { a = \".\" }", "a", "."),
            ("[tool.scikit-build.wheel.packages]\n\"a/b\" = \"code\"", "a.b", "code"),
            (
                "[tool.hatch.build.targets.wheel.sources]\n\"code\" = \"a\"",
                "a",
                "code",
            ),
            (
                "[tool.hatch.build.targets.wheel.force-include]\n\"../code\" = \"a/b\"",
                "a.b",
                "../code",
            ),
            (
                "[tool.poetry]\npackages = [{ include = \"a\", from = \"lib\", to = \"top\" }]",
                "top.a",
                "lib/a",
            ),
        ] {
            let manifest = PythonManifest::of_pyproject(text);
            assert_eq!(manifest.packages, [(name.to_owned(), folder.to_owned())], "{text}");
            assert!(manifest.sources.is_empty(), "{text}");
        }
    }

    #[test]
    fn tools_that_run_or_check_code_name_search_paths() {
        for (text, expected) in [
            (
                "[tool.pytest.ini_options]\npythonpath = [\"lib\", \".\"]",
                &["lib", "."][..],
            ),
            ("[tool.pytest.ini_options]\npythonpath = \"lib more\"", &["lib", "more"]),
            ("[tool.pytest]\npythonpath = [\"lib\"]", &["lib"]),
            (
                "[tool.mypy]\nmypy_path = \"$MYPY_CONFIG_FILE_DIR/src:stubs, more\"",
                &["src", "stubs", "more"],
            ),
            ("[tool.mypy]\nmypy_path = [\"a\", \"b\"]", &["a", "b"]),
            (
                "[tool.pyright]\nextraPaths = [\"a\"]\nexecutionEnvironments = [{ root = \"b\", extraPaths = [\"c\"] }]",
                &["a", "b", "c"],
            ),
            ("[tool.ruff]\nsrc = [\"a\", \"libs/*\"]", &["a"]),
            ("[tool.ty.environment]\nroot = [\"./a\"]", &["./a"]),
            ("[tool.pyrefly]\nsearch-path = [\"a\"]", &["a"]),
        ] {
            assert_eq!(PythonManifest::of_pyproject(text).search_paths, expected, "{text}");
        }
        assert_eq!(
            PythonManifest::of_ruff("src = [\"a\", \"libs/*\"]").patterns,
            ["/libs/*"]
        );
        assert_eq!(
            PythonManifest::of_ty("[environment]\nroot = [\"a\"]").search_paths,
            ["a"]
        );
    }

    #[test]
    fn pants_has_its_own_roots_where_it_names_none() {
        assert_eq!(PythonManifest::of_pants("[GLOBAL]\n").patterns, PANTS_ROOTS);
        let named =
            PythonManifest::of_pants("[source]\nroot_patterns = [\"/code\", \"*/py\"]\nmarker_filenames = [\"ROOT\"]");
        assert_eq!(named.patterns, ["/code", "*/py"]);
        assert_eq!(named.markers, ["ROOT"]);
    }

    #[test]
    fn requirements_are_names_in_one_spelling() {
        let text = "[project]\nname = \"My.Core\"\ndependencies = [\"A_b [x] >= 1\", \"c@ file:../c\"]\n\
                    optional-dependencies.more = [\"d;python_version>'3'\"]\n[dependency-groups]\ntest = [\"e\", {include-group = \"x\"}]\n";
        let manifest = PythonManifest::of_pyproject(text);
        assert_eq!(manifest.name.as_deref(), Some("my-core"));
        assert_eq!(manifest.requires, ["a-b", "c", "d", "e"]);
        let poetry = "[tool.poetry]\nname = \"a\"\n[tool.poetry.dependencies]\nB-c = { path = \"../b\" }\n\
                      [tool.poetry.group.dev.dependencies]\nd = \"*\"\n";
        let manifest = PythonManifest::of_pyproject(poetry);
        assert_eq!(
            (manifest.name.as_deref(), manifest.requires),
            (Some("a"), vec!["b-c".to_owned(), "d".to_owned()])
        );
    }

    #[test]
    fn a_project_is_what_can_be_installed() {
        for (text, expected) in [
            ("[project]\nname = \"a\"", true),
            ("[build-system]\nrequires = []", true),
            ("[tool.poetry]\nname = \"a\"", true),
            ("[tool.ruff]\nline-length = 100", false),
            ("", false),
        ] {
            assert_eq!(PythonManifest::of_pyproject(text).is_project, expected, "{text}");
        }
    }
}

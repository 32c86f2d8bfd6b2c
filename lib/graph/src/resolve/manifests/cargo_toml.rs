//! `Cargo.toml`: the location of a package's code, and the other packages of the repository that it names.

use toml::{Table, Value};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CargoManifest {
    pub(crate) package: Option<PackageSection>,
    pub(crate) workspace: Option<WorkspaceSection>,
    pub(crate) targets: Vec<Target>,
    /// Dependencies of every kind and platform.
    pub(crate) dependencies: Vec<Dependency>,
    /// Packages that replace those of a registry.
    pub(crate) patches: Vec<Dependency>,
}

/// `[package]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PackageSection {
    pub(crate) name: String,
    pub(crate) edition: Edition,
    /// `workspace = "folder"`.
    pub(crate) workspace: Option<String>,
    /// The build script: `Some(None)` where it is disabled, even if `build.rs` exists.
    pub(crate) build: Option<Option<String>>,
    /// Kinds whose targets are not discovered in folders.
    pub(crate) undiscovered_kinds: Vec<TargetKind>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Edition {
    /// The edition 2015, explicit or by default.
    #[default]
    Of2015,
    Later,
    Workspace,
}

/// `[workspace]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorkspaceSection {
    pub(crate) edition: Edition,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetKind {
    Lib,
    Bin,
    Example,
    Test,
    Bench,
}

impl TargetKind {
    /// The kinds that a package can have several of: key of the table, folder, and the key that disables discovery in
    /// the folder.
    pub(crate) const REPEATABLE: [(TargetKind, &'static str, &'static str, &'static str); 4] = [
        (TargetKind::Bin, "bin", "src/bin", "autobins"),
        (TargetKind::Example, "example", "examples", "autoexamples"),
        (TargetKind::Test, "test", "tests", "autotests"),
        (TargetKind::Bench, "bench", "benches", "autobenches"),
    ];
}

/// `[lib]`, `[[bin]]` and the like.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    pub(crate) kind: TargetKind,
    pub(crate) name: Option<String>,
    pub(crate) path: Option<String>,
}

/// One entry of a table of dependencies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dependency {
    /// The key: the name in code, unless the library has another.
    pub(crate) key: String,
    /// `package = "name"`.
    pub(crate) package: Option<String>,
    /// `path = "folder"`.
    pub(crate) path: Option<String>,
    /// `workspace = true`.
    pub(crate) inherits_workspace: bool,
}

impl CargoManifest {
    /// The number of values in it.
    pub(crate) fn value_count(&self) -> usize {
        let shared = self
            .workspace
            .as_ref()
            .map_or(0, |workspace| workspace.dependencies.len());
        1 + self.targets.len() + self.dependencies.len() + self.patches.len() + shared
    }

    /// Parses a manifest. `None` if it is not TOML.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let root: Table = text.parse().ok()?;
        let mut manifest = CargoManifest {
            package: root
                .get("package")
                .or(root.get("project"))
                .and_then(Value::as_table)
                .map(package),
            workspace: root.get("workspace").and_then(Value::as_table).map(workspace),
            ..CargoManifest::default()
        };
        if let Some(lib) = root.get("lib").and_then(Value::as_table) {
            manifest.targets.push(target(TargetKind::Lib, lib));
        }
        for (kind, key, _, _) in TargetKind::REPEATABLE {
            let items = root.get(key).and_then(Value::as_array).into_iter().flatten();
            let targets = items.filter_map(Value::as_table).map(|table| target(kind, table));
            manifest.targets.extend(targets);
        }
        manifest.dependencies = dependencies(&root);
        for platform in tables(root.get("target")) {
            manifest.dependencies.extend(dependencies(platform));
        }
        for registry in tables(root.get("patch")) {
            manifest
                .patches
                .extend(registry.iter().map(|(key, value)| dependency(key, value)));
        }
        Some(manifest)
    }
}

fn tables(value: Option<&Value>) -> impl Iterator<Item = &Table> {
    let table = value.and_then(Value::as_table);
    table
        .into_iter()
        .flat_map(|table| table.values().filter_map(Value::as_table))
}

fn text(table: &Table, key: &str) -> Option<String> {
    table.get(key).and_then(Value::as_str).map(str::to_owned)
}

fn edition(table: &Table) -> Edition {
    match table.get("edition") {
        None => Edition::Of2015,
        Some(Value::String(year)) if year == "2015" => Edition::Of2015,
        Some(Value::Table(_)) => Edition::Workspace,
        Some(_) => Edition::Later,
    }
}

fn package(table: &Table) -> PackageSection {
    let is_off = |key: &str| table.get(key).and_then(Value::as_bool) == Some(false);
    PackageSection {
        name: text(table, "name").unwrap_or_default(),
        edition: edition(table),
        workspace: text(table, "workspace"),
        build: match table.get("build") {
            Some(Value::String(path)) => Some(Some(path.clone())),
            Some(Value::Boolean(false)) => Some(None),
            _ => None,
        },
        undiscovered_kinds: TargetKind::REPEATABLE
            .into_iter()
            .filter(|(_, _, _, key)| is_off(key))
            .map(|(kind, ..)| kind)
            .collect(),
    }
}

fn workspace(table: &Table) -> WorkspaceSection {
    let package = table.get("package").and_then(Value::as_table);
    let entries = table.get("dependencies").and_then(Value::as_table);
    WorkspaceSection {
        edition: package.map_or(Edition::Of2015, edition),
        dependencies: entries
            .into_iter()
            .flatten()
            .map(|(key, value)| dependency(key, value))
            .collect(),
    }
}

fn target(kind: TargetKind, table: &Table) -> Target {
    Target {
        kind,
        name: text(table, "name"),
        path: text(table, "path"),
    }
}

fn dependencies(table: &Table) -> Vec<Dependency> {
    let keys = [
        "dependencies",
        "dev-dependencies",
        "dev_dependencies",
        "build-dependencies",
        "build_dependencies",
    ];
    let entries = keys.into_iter().filter_map(|key| table.get(key)?.as_table()).flatten();
    entries.map(|(key, value)| dependency(key, value)).collect()
}

fn dependency(key: &str, value: &Value) -> Dependency {
    let table = value.as_table();
    let string = |key: &str| table.and_then(|table| text(table, key));
    Dependency {
        key: key.to_owned(),
        package: string("package"),
        path: string("path"),
        inherits_workspace: table.is_some_and(|table| table.get("workspace").and_then(Value::as_bool) == Some(true)),
    }
}

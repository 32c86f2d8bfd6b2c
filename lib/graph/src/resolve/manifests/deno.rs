//! `deno.json`: an import map, a workspace, and the entries of a package. `import_map.json` has only the import map.

use std::sync::Arc;

use crate::resolve::manifests::dependency::{LocalTarget, split_package_name, without_version};
use crate::resolve::manifests::json::Json;
use crate::resolve::manifests::package_json::PackageJson;
use crate::resolve::manifests::tsconfig::Patterns;
use crate::resolve::manifests::workspace::Workspace;
use crate::resolve::paths::joined;

/// The fields that resolution needs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DenoConfig {
    /// The package, if it has a name.
    pub(crate) package: Option<Arc<PackageJson>>,
    pub(crate) workspace: Option<Workspace>,
    /// The entries of the import map whose targets are paths, relative to the config.
    imports: Vec<(String, String)>,
}

impl DenoConfig {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let json = Json::parse(text)?;
        json.fields()?;
        let members = json
            .get("workspace")
            .map(|workspace| workspace.get("members").unwrap_or(workspace));
        let workspace = members.and_then(Json::texts).map(|globs| Workspace {
            globs,
            ..Workspace::default()
        });
        let entries = json.get("imports").and_then(Json::fields).unwrap_or_default();
        let entries = entries.iter().filter_map(|(key, target)| Some((key, target.text()?)));
        let is_path = |text: &str| text.starts_with("./") || text.starts_with("../");
        let (paths, packages): (Vec<_>, Vec<_>) = entries.partition(|(_, target)| is_path(target));
        let name = json.get("name").and_then(Json::text).filter(|name| !name.is_empty());
        let package = name.map(|name| PackageJson {
            name: Some(name.to_owned()),
            is_module: true,
            exports: json.get("exports").cloned(),
            links: packages
                .into_iter()
                .filter_map(|(key, target)| alias(key, target))
                .collect(),
            ..PackageJson::default()
        });
        let paths = paths
            .into_iter()
            .filter(|(key, _)| !key.is_empty() && !is_path(key) && !key.contains('*'));
        Some(DenoConfig {
            package: package.map(Arc::new),
            workspace,
            imports: paths.map(|(key, target)| (key.clone(), target.to_owned())).collect(),
        })
    }

    /// The number of values in it.
    pub(crate) fn value_count(&self) -> usize {
        let package = self.package.as_ref().map_or(0, |package| package.value_count());
        let workspace = self.workspace.as_ref().map_or(0, Workspace::value_count);
        1 + package + workspace + 2 * self.imports.len()
    }

    /// The import map as patterns, for a config in `folder`. A key that ends in a slash stands for everything that
    /// begins with it.
    pub(crate) fn patterns(&self, folder: &str) -> Patterns {
        let pattern = |(key, target): &(String, String)| {
            let path = joined(folder, target)?;
            match (key.ends_with('/'), path.as_str()) {
                (true, _) if !target.ends_with('/') => None,
                (true, "") => Some((format!("{key}*"), vec!["*".to_owned()])),
                (true, path) => Some((format!("{key}*"), vec![format!("{path}/*")])),
                (false, _) => Some((key.clone(), vec![path])),
            }
        };
        self.imports.iter().filter_map(pattern).collect()
    }
}

/// `key` and the workspace package that it is an alias of, if `target` is a registry package with another name.
fn alias(key: &str, target: &str) -> Option<(String, LocalTarget)> {
    let (name, subpath) = registry_package(target)?;
    let is_whole = subpath.is_empty() && split_package_name(key)?.1.is_empty() && key != name;
    is_whole.then(|| (key.to_owned(), LocalTarget::Member(name.to_owned())))
}

/// The name and subpath of the package that a `jsr:` or `npm:` specifier names, without the version.
pub(crate) fn registry_package(specifier: &str) -> Option<(&str, &str)> {
    let package = specifier
        .strip_prefix("jsr:")
        .or_else(|| specifier.strip_prefix("npm:"))?;
    let (name, subpath) = split_package_name(package.trim_start_matches('/'))?;
    Some((without_version(name)?, subpath))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_map_has_names_and_prefixes() {
        let text = r#"{ // all
            "imports": {"lib": "./lib/mod.ts", "@/": "./src/", "~/": "./", "up": "../x.ts", "x/": "./no", "./a": "./b", "r": "npm:react@19", "n": 1},
        }"#;
        let config = DenoConfig::parse(text).unwrap();
        let patterns = config.patterns("app");
        let entries: Vec<(&str, &str)> = patterns
            .iter()
            .map(|(key, targets)| (key.as_str(), targets[0].as_str()))
            .collect();
        assert_eq!(
            entries,
            [
                ("lib", "app/lib/mod.ts"),
                ("@/*", "app/src/*"),
                ("~/*", "app/*"),
                ("up", "x.ts")
            ]
        );
        assert_eq!(config.patterns("").iter().find(|(key, _)| key == "up"), None);
        assert_eq!((config.package, config.workspace), (None, None));
    }

    #[test]
    fn a_package_has_a_name_and_a_workspace_members() {
        for text in [r#"{"workspace": ["./a"]}"#, r#"{"workspace": {"members": ["./a"]}}"#] {
            assert_eq!(
                DenoConfig::parse(text).unwrap().workspace.unwrap().globs,
                ["./a"],
                "{text}"
            );
        }
        let text = r#"{"name": "@s/a", "exports": "./mod.ts", "imports": {"b": "jsr:@s/b@^1", "@s/c": "jsr:@s/c@1", "d": "npm:d@1/x"}}"#;
        let package = DenoConfig::parse(text).unwrap().package.unwrap();
        assert_eq!(
            package.links,
            [("b".to_owned(), LocalTarget::Member("@s/b".to_owned()))]
        );
        assert!(package.exports.is_some());
        assert_eq!(DenoConfig::parse("[]"), None);
    }

    #[test]
    fn a_specifier_of_a_registry_has_a_name_and_a_subpath() {
        for (specifier, expected) in [
            ("jsr:@s/a@^1.0/b/c", Some(("@s/a", "b/c"))),
            ("npm:a", Some(("a", ""))),
            ("npm:/a@1/b", Some(("a", "b"))),
            ("node:fs", None),
            ("jsr:", None),
        ] {
            assert_eq!(registry_package(specifier), expected, "{specifier}");
        }
    }
}

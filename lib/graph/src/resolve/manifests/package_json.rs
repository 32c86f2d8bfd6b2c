//! `package.json`: the entries of a package, by name.

use crate::resolve::manifests::dependency::{LocalDependencies, local_dependencies, replacement};
use crate::resolve::manifests::json::Json;
use crate::resolve::manifests::tsconfig::Patterns;

/// The fields of one `package.json` that resolution needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PackageJson {
    pub(crate) name: Option<String>,
    /// Whether its scripts are modules and not CommonJS, where their extension leaves that open.
    pub(crate) is_module: bool,
    pub(crate) types: Option<String>,
    pub(crate) main: Option<String>,
    pub(crate) module: Option<String>,
    pub(crate) source: Option<String>,
    /// `typesVersions` for the newest TypeScript, relative to the package.
    pub(crate) types_versions: Patterns,
    /// Whether it is for React Native, where a file may have a variant for each platform.
    pub(crate) is_native: bool,
    /// The config that `extends` with only the package's name refers to.
    pub(crate) tsconfig: Option<String>,
    pub(crate) exports: Option<Json>,
    pub(crate) imports: Option<Json>,
    /// Globs of workspace folders.
    pub(crate) workspaces: Vec<String>,
    /// Dependencies on folders and packages of the repository.
    pub(crate) links: LocalDependencies,
    /// Dependencies that `overrides` and `resolutions` substitute for every dependency of the same name.
    pub(crate) overrides: LocalDependencies,
}

/// The fields with dependencies.
const DEPENDENCIES: [&str; 4] = [
    "dependencies",
    "devDependencies",
    "optionalDependencies",
    "peerDependencies",
];

impl PackageJson {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let json = Json::parse(text)?;
        json.fields()?;
        let text_of = |key| json.get(key).and_then(Json::text).map(str::to_owned);
        let workspaces = json.get("workspaces");
        let dependencies = DEPENDENCIES.iter().filter_map(|key| json.get(key)?.fields());
        let pnpm = json.get("pnpm").and_then(|pnpm| pnpm.get("overrides"));
        let overrides = [json.get("resolutions"), json.get("overrides"), pnpm];
        let overrides = overrides.into_iter().flatten().filter_map(Json::fields).flatten();
        // npm's form for an override of nested dependencies: `{".": "version of itself"}`.
        let version = |value: &Json| value.text().or_else(|| value.get(".")?.text()).map(str::to_owned);
        Some(PackageJson {
            name: text_of("name").filter(|name| !name.is_empty()),
            is_module: json.get("type").and_then(Json::text) == Some("module"),
            types: text_of("types").or_else(|| text_of("typings")),
            main: text_of("main"),
            module: text_of("module"),
            source: text_of("source"),
            types_versions: types_versions(&json),
            is_native: DEPENDENCIES
                .iter()
                .any(|key| json.get(key).is_some_and(|names| names.get("react-native").is_some())),
            tsconfig: text_of("tsconfig"),
            exports: json.get("exports").filter(|exports| **exports != Json::Null).cloned(),
            imports: json.get("imports").cloned(),
            workspaces: workspaces
                .and_then(Json::texts)
                .or_else(|| {
                    workspaces
                        .and_then(|object| object.get("packages"))
                        .and_then(Json::texts)
                })
                .unwrap_or_default(),
            links: dependencies.flat_map(local_dependencies).collect(),
            overrides: overrides
                .filter_map(|(key, value)| replacement(key, &version(value)?))
                .collect(),
        })
    }

    /// Number of values in it.
    pub(crate) fn value_count(&self) -> usize {
        let nested = [&self.exports, &self.imports]
            .into_iter()
            .flatten()
            .map(Json::value_count);
        let versions = self.types_versions.iter().map(|(_, targets)| 1 + targets.len());
        nested.chain(versions).sum::<usize>()
            + self.workspaces.len()
            + 2 * (self.links.len() + self.overrides.len())
            + 1
    }

    /// Number of texts that a lookup in `exports` or `imports` is compared with.
    pub(crate) fn entry_count(&self) -> usize {
        let fields = |json: &Option<Json>| json.as_ref().and_then(Json::fields).map_or(0, <[_]>::len);
        fields(&self.exports) + fields(&self.imports)
    }

    /// The target of `exports` for `subpath` (`.` or `./x`), and the text that its `*` stands for.
    pub(crate) fn exports_target<'a>(&'a self, subpath: &'a str) -> Option<(&'a Json, &'a str)> {
        let exports = self.exports.as_ref()?;
        match exports {
            Json::Object(fields) if fields.iter().any(|(key, _)| key.starts_with('.')) => best_match(fields, subpath),
            _ => (subpath == ".").then_some((exports, "")),
        }
    }

    /// Whether `exports` forbids the import of `subpath` (`""`: the package itself).
    pub(crate) fn forbids(&self, subpath: &str) -> bool {
        matches!(self.exports_target(&exports_key(subpath)), Some((Json::Null, _)))
    }

    /// The target of `imports` for `name` (`#x`), and the text that its `*` stands for.
    pub(crate) fn imports_target<'a>(&'a self, name: &'a str) -> Option<(&'a Json, &'a str)> {
        best_match(self.imports.as_ref()?.fields()?, name)
    }
}

/// The patterns of the first range of `typesVersions` that has no end.
fn types_versions(json: &Json) -> Patterns {
    let is_newest = |range: &str| {
        let mut sets = range.split("||").map(str::trim);
        sets.any(|set| set == "*" || (set.starts_with('>') && !set.contains('<')))
    };
    let ranges = json.get("typesVersions").and_then(Json::fields).unwrap_or_default();
    let newest = ranges.iter().find(|(range, _)| is_newest(range));
    let patterns = newest.and_then(|(_, patterns)| patterns.fields()).unwrap_or_default();
    let pattern = |(key, targets): &(String, Json)| Some((key.clone(), targets.texts()?));
    patterns.iter().filter_map(pattern).collect()
}

/// The key of `subpath` (`""`: the package itself) in `exports`.
pub(crate) fn exports_key(subpath: &str) -> String {
    match subpath {
        "" => ".".to_owned(),
        subpath => format!("./{subpath}"),
    }
}

/// The entry of `fields` for `key`: an exact one, else the pattern (or `./x/`, the form before patterns) with the
/// longest text before its `*`, and of those the longest.
fn best_match<'a>(fields: &'a [(String, Json)], key: &'a str) -> Option<(&'a Json, &'a str)> {
    if let Some((_, target)) = fields.iter().find(|(name, _)| name == key && !name.contains('*')) {
        return Some((target, ""));
    }
    let mut best: Option<((usize, usize), &Json, &str)> = None;
    // A star stands for at least one character, so a longer pattern cannot match. It may be very long.
    for (pattern, target) in fields.iter().filter(|(name, _)| name.len() <= key.len()) {
        let Some(matched) = match_star(pattern, key) else {
            continue;
        };
        let rank = (pattern.find('*').unwrap_or(pattern.len()), pattern.len());
        if best.is_none_or(|(highest, ..)| rank > highest) {
            best = Some((rank, target, matched));
        }
    }
    best.map(|(_, target, matched)| (target, matched))
}

/// The text that the `*` of `pattern` stands for in `key`, or the text after a pattern that ends in `/`.
pub(crate) fn match_star<'a>(pattern: &str, key: &'a str) -> Option<&'a str> {
    match pattern.split_once('*') {
        Some((before, after)) => key.strip_prefix(before)?.strip_suffix(after),
        None if pattern.ends_with('/') => key.strip_prefix(pattern),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_wrong_type_are_as_good_as_absent() {
        let manifest =
            PackageJson::parse(r#"{"name": 3, "main": {}, "workspaces": {"packages": ["a", 1]}, "exports": null}"#)
                .unwrap();
        assert_eq!(manifest.name, None);
        assert_eq!(manifest.workspaces, ["a"]);
        assert_eq!(manifest.exports, None);
        assert_eq!(PackageJson::parse("[]"), None);
    }
}

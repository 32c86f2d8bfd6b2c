//! `package.json`: what a package offers under which name.

use super::json::Json;
use super::path_table::joined;

/// The fields of one `package.json` that resolution needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Manifest {
    pub(super) name: Option<String>,
    pub(super) types: Option<String>,
    pub(super) main: Option<String>,
    pub(super) module: Option<String>,
    pub(super) source: Option<String>,
    /// What `extends` of a bare package name means.
    pub(super) tsconfig: Option<String>,
    pub(super) exports: Option<Json>,
    pub(super) imports: Option<Json>,
    /// Globs of workspace folders.
    pub(super) workspaces: Vec<String>,
    /// Dependencies on folders (`file:`, `link:`, `portal:`): name and folder as written.
    pub(super) links: Vec<(String, String)>,
}

impl Manifest {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let json = Json::parse(text)?;
        json.fields()?;
        let text_of = |key| json.get(key).and_then(Json::text).map(str::to_owned);
        let workspaces = json.get("workspaces");
        let mut links = Vec::new();
        for key in ["dependencies", "devDependencies", "optionalDependencies"] {
            for (name, version) in json.get(key).and_then(Json::fields).unwrap_or_default() {
                let target = version.text().and_then(|version| {
                    ["file:", "link:", "portal:"]
                        .iter()
                        .find_map(|scheme| version.strip_prefix(scheme))
                });
                if let Some(target) = target {
                    links.push((name.clone(), target.to_owned()));
                }
            }
        }
        Some(Manifest {
            name: text_of("name").filter(|name| !name.is_empty()),
            types: text_of("types").or_else(|| text_of("typings")),
            main: text_of("main"),
            module: text_of("module"),
            source: text_of("source"),
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
            links,
        })
    }

    /// How many values it keeps.
    pub(super) fn values(&self) -> usize {
        let nested = [&self.exports, &self.imports].into_iter().flatten().map(Json::values);
        nested.sum::<usize>() + self.workspaces.len() + self.links.len() + 1
    }

    /// What `exports` has for `subpath` (`.` or `./x`), and what its `*` stands for.
    pub(super) fn exported<'a>(&'a self, subpath: &'a str) -> Option<(&'a Json, &'a str)> {
        let exports = self.exports.as_ref()?;
        match exports {
            Json::Object(fields) if fields.iter().any(|(key, _)| key.starts_with('.')) => best_match(fields, subpath),
            _ => (subpath == ".").then_some((exports, "")),
        }
    }

    /// What `imports` has for `name` (`#x`), and what its `*` stands for.
    pub(super) fn imported<'a>(&'a self, name: &'a str) -> Option<(&'a Json, &'a str)> {
        best_match(self.imports.as_ref()?.fields()?, name)
    }
}

/// The entry of `fields` for `key`: itself, else the pattern with the longest text before its `*`, else the longest
/// folder (`./x/`, the form before patterns).
fn best_match<'a>(fields: &'a [(String, Json)], key: &'a str) -> Option<(&'a Json, &'a str)> {
    if let Some((_, target)) = fields.iter().find(|(name, _)| name == key && !name.contains('*')) {
        return Some((target, ""));
    }
    let mut best: Option<(usize, &Json, &str)> = None;
    for (pattern, target) in fields {
        let Some(matched) = matched_by(pattern, key) else {
            continue;
        };
        let length = pattern.find('*').unwrap_or(pattern.len());
        if best.is_none_or(|(longest, ..)| length > longest) {
            best = Some((length, target, matched));
        }
    }
    best.map(|(_, target, matched)| (target, matched))
}

/// What the `*` of `pattern` stands for in `key`, or what follows a pattern that ends in `/`.
pub(super) fn matched_by<'a>(pattern: &str, key: &'a str) -> Option<&'a str> {
    match pattern.split_once('*') {
        Some((before, after)) => key.strip_prefix(before)?.strip_suffix(after),
        None if pattern.ends_with('/') => key.strip_prefix(pattern),
        None => None,
    }
}

/// Which conditions of `exports` and `imports` hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditions<'a> {
    pub(super) require: bool,
    pub(super) types: bool,
    pub(super) node: bool,
    pub(super) custom: &'a [String],
}

impl Conditions<'_> {
    fn holds(&self, name: &str) -> bool {
        match name {
            "default" => true,
            "import" => !self.require,
            "require" => self.require,
            "types" => self.types,
            "node" => self.node,
            _ => (self.types && name.starts_with("types@")) || self.custom.iter().any(|custom| custom == name),
        }
    }
}

/// Most targets that are looked at for one specifier; a manifest can nest conditions without end.
const MAX_TARGETS: usize = 256;

/// Calls `visit` with each target that `conditions` allow, in order, `*` replaced, until it answers. As TypeScript has
/// it, a target that is not there gives way to the next condition; `null` ends the search.
pub(super) fn visit_targets<T>(
    target: &Json,
    matched: &str,
    conditions: Option<Conditions<'_>>,
    visit: &mut dyn FnMut(&str) -> Option<T>,
) -> Option<T> {
    let mut left = MAX_TARGETS;
    match visit_nested(target, matched, conditions, visit, &mut left) {
        Step::Found(found) => Some(found),
        Step::Next | Step::End => None,
    }
}

enum Step<T> {
    Found(T),
    Next,
    End,
}

fn visit_nested<T>(
    target: &Json,
    matched: &str,
    conditions: Option<Conditions<'_>>,
    visit: &mut dyn FnMut(&str) -> Option<T>,
    left: &mut usize,
) -> Step<T> {
    if *left == 0 {
        return Step::End;
    }
    match target {
        Json::Text(text) => {
            *left -= 1;
            let found = if text.contains('*') {
                visit(&text.replace('*', matched))
            } else if text.ends_with('/') {
                visit(&format!("{text}{matched}"))
            } else {
                visit(text)
            };
            found.map_or(Step::Next, Step::Found)
        }
        Json::List(items) => {
            for item in items {
                match visit_nested(item, matched, conditions, visit, left) {
                    Step::Next => {}
                    step => return step,
                }
            }
            Step::Next
        }
        Json::Object(fields) => {
            for (name, inner) in fields {
                if conditions.is_none_or(|conditions| conditions.holds(name)) {
                    match visit_nested(inner, matched, conditions, visit, left) {
                        Step::Next => {}
                        step => return step,
                    }
                }
            }
            Step::Next
        }
        // Where every target is wanted, one `null` says nothing about the others.
        Json::Null if conditions.is_some() => Step::End,
        Json::Null | Json::Bool(_) | Json::Number => Step::Next,
    }
}

/// A package of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Package {
    /// Its folder, `""` at the root.
    pub(super) folder: String,
    pub(super) manifest: Manifest,
    /// From a folder that a compiler writes to the folder it reads, by the package's own tsconfigs.
    pub(super) built_from: Vec<(String, String)>,
}

impl Package {
    /// The path that `target` (relative to the package) means; `None` when it leads out of the repository.
    pub(super) fn path(&self, target: &str) -> Option<String> {
        joined(&self.folder, target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUNDLER: Conditions<'static> = Conditions {
        require: false,
        types: true,
        node: false,
        custom: &[],
    };

    fn first_target(manifest: &str, subpath: &str) -> Option<String> {
        let manifest = Manifest::parse(manifest).unwrap();
        let (target, matched) = manifest.exported(subpath)?;
        visit_targets(target, matched, Some(BUNDLER), &mut |path| Some(path.to_owned()))
    }

    #[test]
    fn exports_are_matched_by_the_most_exact_key() {
        let manifest = r#"{"exports": {".": "./i.js", "./*": "./src/*.js", "./f/*": ["./x/*.js"], "./f/no": null, "./d/": "./e/"}}"#;
        for (subpath, expected) in [
            (".", Some("./i.js")),
            ("./a", Some("./src/a.js")),
            ("./f/b", Some("./x/b.js")),
            ("./f/no", None),
            ("./d/x.js", Some("./e/x.js")),
        ] {
            assert_eq!(first_target(manifest, subpath).as_deref(), expected, "{subpath}");
        }
        assert_eq!(first_target(r#"{"exports": "./a.js"}"#, "./b"), None);
    }

    #[test]
    fn conditions_are_taken_in_the_order_written() {
        let manifest = r#"{"exports": {"require": "./c.cjs", "browser": "./b.js", "import": {"types": "./t.d.ts", "default": "./m.mjs"}}}"#;
        assert_eq!(first_target(manifest, ".").as_deref(), Some("./t.d.ts"));
    }

    #[test]
    fn fields_of_a_wrong_type_are_as_good_as_absent() {
        let manifest =
            Manifest::parse(r#"{"name": 3, "main": {}, "workspaces": {"packages": ["a", 1]}, "exports": null}"#)
                .unwrap();
        assert_eq!(manifest.name, None);
        assert_eq!(manifest.workspaces, ["a"]);
        assert_eq!(manifest.exports, None);
        assert_eq!(Manifest::parse("[]"), None);
    }
}

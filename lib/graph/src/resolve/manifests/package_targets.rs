//! The targets of `exports` and `imports` in a `package.json`, under the conditions that hold.

use crate::resolve::manifests::json::Json;

/// The conditions of `exports` and `imports` that hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions<'a> {
    pub(crate) require: bool,
    pub(crate) types: bool,
    pub(crate) node: bool,
    pub(crate) browser: bool,
    /// Whether conditions hold that are specific to one repository: they lead to its sources.
    pub(crate) repository: bool,
    pub(crate) custom: &'a [String],
}

/// Conditions that are known beyond one repository.
const WELL_KNOWN: &[&str] = &[
    "azion",
    "browser",
    "default",
    "deno",
    "edge-light",
    "edge-routine",
    "electron",
    "fastly",
    "import",
    "kiesel",
    "module",
    "module-sync",
    "netlify",
    "node",
    "node-addons",
    "production",
    "react-native",
    "react-server",
    "require",
    "types",
    "worker",
    "workerd",
];

impl Conditions<'_> {
    fn holds(&self, name: &str) -> bool {
        match name {
            "default" => true,
            "import" => !self.require,
            "require" => self.require,
            "types" => self.types,
            "node" | "module-sync" if self.node => true,
            "browser" | "module" if self.browser => true,
            _ => {
                (self.types && name.starts_with("types@"))
                    || (self.repository && !WELL_KNOWN.contains(&name))
                    || self.custom.iter().any(|custom| custom == name)
            }
        }
    }
}

/// Most targets that are tried for one specifier; a manifest can nest conditions to any depth.
const MAX_TARGETS: usize = 256;
/// Longest target: longer than any path of a tree.
const MAX_TARGET_BYTES: usize = 8_192;
/// Most conditions and lists that are read for one specifier.
const MAX_STEPS: usize = 1_024;

/// Calls `visit` with each target that `conditions` allow, in order, with `*` replaced, until it returns a result.
/// `None` allows all conditions. As in TypeScript, the search continues with the next condition if a target does not
/// exist; `null` ends it.
pub(crate) fn visit_targets<T>(
    target: &Json,
    matched: &str,
    conditions: Option<Conditions<'_>>,
    visit: &mut dyn FnMut(&str) -> Option<T>,
) -> Option<T> {
    match visit_nested(target, matched, conditions, visit, &mut RemainingLookups::new()) {
        Step::Found(found) => Some(found),
        Step::Next | Step::End => None,
    }
}

/// Whether a condition of `conditions` holds in `target`: it leads to a file, built or not, or to `null`.
pub(crate) fn has_branch(target: &Json, conditions: Conditions<'_>) -> bool {
    let mut remaining = RemainingLookups::new();
    let step = visit_nested(target, "", Some(conditions), &mut |_| Some(()), &mut remaining);
    !matches!(step, Step::Next)
}

/// `target` with each `*` replaced by `matched`; `None` if the result is longer than any path. A target of a mebibyte
/// of stars would otherwise take gibibytes.
pub(crate) fn replace_stars(target: &str, matched: &str) -> Option<String> {
    let stars = memchr::memchr_iter(b'*', target.as_bytes()).count();
    (target.len() + stars * matched.len() <= MAX_TARGET_BYTES).then(|| target.replace('*', matched))
}

/// The remaining lookups for one specifier.
struct RemainingLookups {
    targets: usize,
    steps: usize,
}

impl RemainingLookups {
    fn new() -> Self {
        RemainingLookups {
            targets: MAX_TARGETS,
            steps: MAX_STEPS,
        }
    }

    /// Spends one step. Returns whether more are left.
    fn spend_step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.steps > 0
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
    remaining: &mut RemainingLookups,
) -> Step<T> {
    if remaining.targets == 0 {
        return Step::End;
    }
    match target {
        Json::Text(text) => {
            remaining.targets -= 1;
            let result = if text.contains('*') {
                replace_stars(text, matched).and_then(|text| visit(&text))
            } else if text.ends_with('/') {
                visit(&format!("{text}{matched}"))
            } else {
                visit(text)
            };
            result.map_or(Step::Next, Step::Found)
        }
        Json::List(items) => {
            for item in items {
                if !remaining.spend_step() {
                    return Step::End;
                }
                match visit_nested(item, matched, conditions, visit, remaining) {
                    Step::Next => {}
                    step => return step,
                }
            }
            Step::Next
        }
        Json::Object(fields) => {
            for (name, inner) in fields {
                if !remaining.spend_step() {
                    return Step::End;
                }
                if conditions.is_none_or(|conditions| conditions.holds(name)) {
                    match visit_nested(inner, matched, conditions, visit, remaining) {
                        Step::Next => {}
                        step => return step,
                    }
                }
            }
            Step::Next
        }
        // Without conditions, the caller wants every target: a `null` does not affect the others.
        Json::Null if conditions.is_some() => Step::End,
        Json::Null | Json::Bool(_) | Json::Number => Step::Next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::manifests::package_json::PackageJson;

    const BUNDLER: Conditions<'static> = Conditions {
        require: false,
        types: true,
        node: false,
        browser: false,
        repository: false,
        custom: &[],
    };

    fn first_target(manifest: &str, subpath: &str) -> Option<String> {
        let manifest = PackageJson::parse(manifest).unwrap();
        let (target, matched) = manifest.exports_target(subpath)?;
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
        // Of patterns with the same text before the star, the longer one is more exact, in either order.
        for patterns in [
            r#""./*": "./src/*.ts", "./*.js": "./js/*.ts""#,
            r#""./*.js": "./js/*.ts", "./*": "./src/*.ts""#,
        ] {
            let manifest = format!(r#"{{"exports": {{{patterns}}}}}"#);
            assert_eq!(
                first_target(&manifest, "./a.js").as_deref(),
                Some("./js/a.ts"),
                "{patterns}"
            );
            assert_eq!(
                first_target(&manifest, "./a").as_deref(),
                Some("./src/a.ts"),
                "{patterns}"
            );
        }
        // A star stands for at least one character.
        assert_eq!(first_target(r#"{"exports": {"./a*": "./b*.js"}}"#, "./a"), None);
    }

    #[test]
    fn conditions_are_taken_in_the_order_written() {
        let manifest = r#"{"exports": {"require": "./c.cjs", "browser": "./b.js", "import": {"types": "./t.d.ts", "default": "./m.mjs"}}}"#;
        assert_eq!(first_target(manifest, ".").as_deref(), Some("./t.d.ts"));
    }

    #[test]
    fn a_branch_holds_by_its_condition_whether_or_not_its_file_exists() {
        let holds = |exports: &str| has_branch(&Json::parse(exports).unwrap(), BUNDLER);
        for exports in [
            r#""./a.js""#,
            r#"{"import": "./a.js"}"#,
            r#"{"import": null}"#,
            r#"[{"default": "./a"}]"#,
        ] {
            assert!(holds(exports), "{exports}");
        }
        for exports in [
            r#"{"require": "./a.js", "deno": "./b.js"}"#,
            r#"{"import": {"node": "./a"}}"#,
            "[]",
        ] {
            assert!(!holds(exports), "{exports}");
        }
    }
}

//! Files besides `package.json` that make a folder a workspace: those of pnpm, Lerna and Rush.

use crate::resolve::manifests::dependency::{LocalDependencies, replacement};
use crate::resolve::manifests::json::Json;

/// The packages of a workspace, as one file names them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Workspace {
    /// Globs of their folders.
    pub(crate) globs: Vec<String>,
    /// The glob that counts if no file of the folder has another.
    pub(crate) default_glob: Option<&'static str>,
    /// Replacements of dependencies in all packages.
    pub(crate) overrides: LocalDependencies,
}

impl Workspace {
    /// The number of values in it.
    pub(crate) fn value_count(&self) -> usize {
        1 + self.globs.len() + 2 * self.overrides.len()
    }

    /// `pnpm-workspace.yaml`.
    pub(crate) fn parse_pnpm(text: &str) -> Self {
        let mut workspace = Workspace::default();
        let mut block = Block::Other;
        for line in text.lines() {
            let mut content = without_comment(line).trim_end();
            if !content.starts_with([' ', '\t', '-', ']', '}'])
                && let Some((key, rest)) = entry(content)
            {
                block = match key {
                    "packages" => Block::Packages,
                    "overrides" => Block::Overrides,
                    _ => Block::Other,
                };
                content = rest;
            }
            let content = content.trim();
            match block {
                Block::Packages => {
                    let items = content.strip_prefix('-').unwrap_or(content).split(',');
                    workspace.globs.extend(items.filter_map(scalar).map(str::to_owned));
                }
                Block::Overrides => {
                    let fields = content.trim_matches(['{', '}']).split(',');
                    let entries = fields.filter_map(|field| entry(field.trim()));
                    let overrides = entries.filter_map(|(key, value)| replacement(key, scalar(value)?));
                    workspace.overrides.extend(overrides);
                }
                Block::Other => {}
            }
        }
        workspace
    }

    /// `lerna.json`. Without its field `packages`, the globs of the package manager count. Without those, the packages
    /// in the folder `packages` count.
    pub(crate) fn parse_lerna(text: &str) -> Option<Self> {
        let json = Json::parse(text)?;
        json.fields()?;
        Some(Workspace {
            globs: json.get("packages").and_then(Json::texts).unwrap_or_default(),
            default_glob: Some("packages/*"),
            overrides: Vec::new(),
        })
    }

    /// `rush.json`.
    pub(crate) fn parse_rush(text: &str) -> Option<Self> {
        let json = Json::parse(text)?;
        let projects = json.get("projects")?.list()?.iter();
        let folder = |project: &Json| project.get("projectFolder")?.text().map(str::to_owned);
        Some(Workspace {
            globs: projects.filter_map(folder).collect(),
            ..Workspace::default()
        })
    }
}

enum Block {
    Packages,
    Overrides,
    Other,
}

fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with('#') {
        return "";
    }
    line.find(" #").map_or(line, |at| &line[..at])
}

/// The key of `key: value`, quoted or not, and the rest.
fn entry(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let (key, rest) = match quote {
        Some(quote) => text[1..].split_once(quote)?,
        None => {
            let colons = memchr::memchr_iter(b':', text.as_bytes());
            let mut ends = colons.filter(|at| text[at + 1..].is_empty() || text[at + 1..].starts_with([' ', '\t']));
            text.split_at(ends.next()?)
        }
    };
    Some((key.trim_end(), rest.trim_start().strip_prefix(':')?))
}

fn scalar(text: &str) -> Option<&str> {
    let text = text.trim().trim_matches(['"', '\'', '[', ']']);
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::manifests::dependency::LocalTarget;

    #[test]
    fn pnpm_workspaces_are_read_in_every_way_they_are_written() {
        let text = "# all\npackages:\n  # own\n  - 'packages/*'\n  - \"apps/**\" # all apps\n\n  - '!**/test/**'\ncatalog:\n  - no\n";
        for (text, globs) in [
            (text, &["packages/*", "apps/**", "!**/test/**"][..]),
            ("packages: ['a', \"b/*\"]", &["a", "b/*"]),
            ("packages: [\n  a,\n  'b',\n]\nx: [c]", &["a", "b"]),
            ("packages:\n- a\n- b\nx: 1", &["a", "b"]),
            ("\"packages\":\n  - a\n'other':\n  - b", &["a"]),
            ("'packages' : [a]", &["a"]),
            ("x:\n  packages:\n    - a", &[]),
        ] {
            assert_eq!(Workspace::parse_pnpm(text).globs, globs, "{text}");
        }
    }

    #[test]
    fn overrides_of_pnpm_are_read_where_they_lead_into_the_repository() {
        let expected = [
            ("a".to_owned(), LocalTarget::Folder("./x".to_owned())),
            ("@s/b".to_owned(), LocalTarget::Member("@s/b".to_owned())),
        ];
        for text in [
            "packages:\n  - p\noverrides:\n  a: link:./x # here\n  c: ^1.0.0\n  '@s/b@^1': 'workspace:*'\n  d>e: link:./x\n",
            "overrides: {a: link:./x, \"@s/b\": \"workspace:*\"}",
        ] {
            assert_eq!(Workspace::parse_pnpm(text).overrides, expected, "{text}");
        }
    }

    #[test]
    fn lerna_and_rush_name_folders() {
        let lerna = |text: &str| Workspace::parse_lerna(text).map(|workspace| workspace.globs);
        assert_eq!(lerna(r#"{"packages": ["a/*"]}"#), Some(vec!["a/*".to_owned()]));
        assert_eq!(lerna(r#"{"version": "1"}"#), Some(Vec::new()));
        assert_eq!(lerna("[]"), None);
        let rush = "{ /* all */ \"projects\": [{\"packageName\": \"a\", \"projectFolder\": \"apps/a\"}, {}, 1, ] }";
        let globs = Workspace::parse_rush(rush).map(|workspace| workspace.globs);
        assert_eq!(globs, Some(vec!["apps/a".to_owned()]));
        assert_eq!(Workspace::parse_rush("{}"), None);
    }
}

//! Patterns against many paths, for callers that bound the cost.

use super::owned_scope::Scope;
use super::rule::{self, Item, Reading, Rule};
use super::walk::Walk;

/// Patterns against one path after the other.
pub struct Matcher<'r>(Walk<'r>);

impl Matcher<'_> {
    /// Whether they match `path`, a file. Paths of one folder that come one after the other are fastest.
    pub fn matches(&mut self, path: impl AsRef<[u8]>) -> bool {
        self.0.find(path.as_ref()).is_some()
    }

    /// How many bytes and places were looked at so far.
    pub fn steps(&self) -> u64 {
        self.0.steps
    }
}

impl Scope {
    /// Its patterns against many paths.
    pub fn matcher(&self) -> Matcher<'_> {
        Matcher(self.walk())
    }
}

/// Patterns that set an attribute of files, or take it back, as those of `.gitattributes`: the last one that matches decides, and one
/// that matches a folder says nothing of the files in it.
#[derive(Clone, Debug, Default)]
pub struct FileRules {
    rules: Vec<Rule>,
}

impl FileRules {
    /// Adds the pattern of a line in the folder `folder`, `""` for the root. One of folders, a negated or an empty one matches nothing, as
    /// in git.
    pub fn add(&mut self, folder: &str, pattern: &str, is_set: bool) {
        let is_anchored = pattern.contains('/');
        let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
        if pattern.is_empty() || pattern.ends_with('/') || pattern.starts_with('!') {
            return;
        }
        let mut above: Vec<u8> = Vec::new();
        for byte in folder.bytes() {
            if b"*?[\\".contains(&byte) {
                above.push(b'\\');
            }
            above.push(byte);
        }
        let rows: Vec<Vec<Item>> = match (is_anchored, above.is_empty()) {
            (true, true) => rule::rows(pattern.as_bytes(), Reading::Git),
            (true, false) => rule::rows(&[&above, pattern.as_bytes()].join(&b'/'), Reading::Git),
            (false, true) => vec![rule::name(pattern.as_bytes())],
            (false, false) => {
                let mut rows = rule::rows(&above, Reading::Git);
                rows.iter_mut()
                    .for_each(|row| row.extend(rule::name(pattern.as_bytes())));
                rows
            }
        };
        let source = self.rules.len();
        self.rules.extend(rows.into_iter().map(|items| Rule {
            items,
            folder_only: false,
            negated: !is_set,
            source,
        }));
    }

    /// The rules against many paths.
    pub fn matcher(&self) -> Matcher<'_> {
        Matcher(Walk::of_files(&self.rules))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_set(lines: &[(&str, &str, bool)], path: &str) -> bool {
        let mut rules = FileRules::default();
        for (folder, pattern, is_set) in lines {
            rules.add(folder, pattern, *is_set);
        }
        rules.matcher().matches(path)
    }

    #[test]
    fn the_last_pattern_that_matches_a_file_decides() {
        for (lines, path, expected) in [
            (&[("", "*.lock", true)][..], "a.lock", true),
            (&[("", "*.lock", true)], "deep/er/a.lock", true),
            (&[("", "/a.lock", true)], "deep/a.lock", false),
            (&[("", "deep/*.lock", true)], "deep/a.lock", true),
            (&[("", "deep/*.lock", true)], "more/deep/a.lock", false),
            (&[("", "gen", true)], "gen/a.ts", false),
            (&[("", "gen/", true)], "gen/a.ts", false),
            (&[("", "gen/**", true)], "gen/a/b.ts", true),
            (
                &[("", "gen/**", true), ("", "gen/keep.ts", false)],
                "gen/keep.ts",
                false,
            ),
            (
                &[("", "gen/**", true), ("gen", "keep.ts", false)],
                "gen/a/keep.ts",
                false,
            ),
            (&[("", "*.ts", false), ("", "gen/**", true)], "gen/a.ts", true),
            (&[("app/[id]", "*.gen.ts", true)], "app/[id]/x/a.gen.ts", true),
            (&[("app/[id]", "*.gen.ts", true)], "app/i/a.gen.ts", false),
            (&[("app", "/x.ts", true)], "app/x.ts", true),
            (&[("app", "/x.ts", true)], "app/y/x.ts", false),
            (&[("", "!a.ts", true)], "a.ts", false),
            (&[("", "", true), ("", "/", true)], "a.ts", false),
        ] {
            assert_eq!(is_set(lines, path), expected, "{lines:?} and {path}");
        }
    }

    #[test]
    fn it_is_as_in_git_for_one_path_after_the_other() {
        let mut rules = FileRules::default();
        rules.add("", "gen/**", true);
        rules.add("gen", "keep*", false);
        let mut matcher = rules.matcher();
        for (path, expected) in [
            ("gen/a.ts", true),
            ("gen/keep.ts", false),
            ("gen/z/keep.ts", false),
            ("gen/z/o.ts", true),
            ("other/keep.ts", false),
            ("gen/b.ts", true),
        ] {
            assert_eq!(matcher.matches(path), expected, "{path}");
        }
        assert!(matcher.steps() > 0);
    }
}

//! Matches patterns against many paths, for callers that bound the cost.

use super::owned_scope::Scope;
use super::rule::{self, Item, Rule, Syntax};
use super::walk::Walk;

/// Matches patterns against one path after the other.
pub struct Matcher<'r>(Walk<'r>);

impl Matcher<'_> {
    /// Whether the patterns match `path`, a file. It is fastest if paths of the same folder follow each other.
    pub fn matches(&mut self, path: impl AsRef<[u8]>) -> bool {
        self.0.find(path.as_ref()).is_some()
    }

    /// The number of bytes and positions compared so far.
    pub fn steps(&self) -> u64 {
        self.0.steps
    }
}

impl Scope {
    /// A matcher of its patterns.
    pub fn matcher(&self) -> Matcher<'_> {
        Matcher(self.walk())
    }
}

/// Patterns that set or unset an attribute of files, as in `.gitattributes`. The last matching pattern decides. A
/// pattern that matches a folder does not apply to the files in it.
#[derive(Clone, Debug, Default)]
pub struct FileRules {
    rules: Vec<Rule>,
}

impl FileRules {
    /// Adds the pattern of a line in the folder `folder`, `""` for the root. As in git, an empty pattern, a negated one
    /// and one for folders match nothing.
    pub fn add(&mut self, folder: &str, pattern: &str, is_set: bool) {
        let is_anchored = pattern.contains('/');
        let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
        if pattern.is_empty() || pattern.ends_with('/') || pattern.starts_with('!') {
            return;
        }
        let mut escaped_folder: Vec<u8> = Vec::new();
        for byte in folder.bytes() {
            if b"*?[\\".contains(&byte) {
                escaped_folder.push(b'\\');
            }
            escaped_folder.push(byte);
        }
        let rows: Vec<Vec<Item>> = match (is_anchored, escaped_folder.is_empty()) {
            (true, true) => rule::parse_rows(pattern.as_bytes(), Syntax::Git),
            (true, false) => rule::parse_rows(&[&escaped_folder, pattern.as_bytes()].join(&b'/'), Syntax::Git),
            (false, true) => vec![rule::parse_name(pattern.as_bytes())],
            (false, false) => {
                let mut rows = rule::parse_rows(&escaped_folder, Syntax::Git);
                rows.iter_mut()
                    .for_each(|row| row.extend(rule::parse_name(pattern.as_bytes())));
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
    fn a_matcher_gives_gits_answer_for_one_path_after_the_other() {
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

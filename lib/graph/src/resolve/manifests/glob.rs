//! Globs of workspaces and of tsconfig's `include` and `exclude`: `*` and `?` within a name, `**` across folders.
//! Matching takes at most the product of the two lengths, whatever the pattern.

/// How much of a path a pattern has to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The whole path must match.
    AtEnd,
    /// A parent folder may match: everything below an excluded folder is excluded.
    AtAnyFolder,
}

/// Whether `path` matches `pattern`. Both are relative to the same folder, without a leading `./`.
pub(crate) fn matches(pattern: &str, path: &str, stop: Stop) -> bool {
    let pattern: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let path: Vec<&str> = path.split('/').collect();
    let (mut at, mut index) = (0, 0);
    let mut resume: Option<(usize, usize)> = None;
    loop {
        if at == pattern.len() && (index == path.len() || stop == Stop::AtAnyFolder) {
            return true;
        }
        if index == path.len() {
            return pattern[at..].iter().all(|part| *part == "**") && at < pattern.len();
        }
        if pattern.get(at) == Some(&"**") {
            resume = Some((at, index));
            at += 1;
        } else if pattern.get(at).is_some_and(|part| matches_name(part, path[index])) {
            at += 1;
            index += 1;
        } else if let Some((star, from)) = resume {
            resume = Some((star, from + 1));
            at = star + 1;
            index = from + 1;
        } else {
            return false;
        }
    }
}

/// Whether one name matches one component of a pattern. `{a,b}` is understood one level deep.
fn matches_name(pattern: &str, name: &str) -> bool {
    if let Some((before, rest)) = pattern.split_once('{')
        && let Some((choices, after)) = rest.split_once('}')
        && !after.contains('{')
    {
        return choices
            .split(',')
            .any(|choice| matches_wildcards(format!("{before}{choice}{after}").as_bytes(), name.as_bytes()));
    }
    matches_wildcards(pattern.as_bytes(), name.as_bytes())
}

fn matches_wildcards(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut index) = (0, 0);
    let mut resume: Option<(usize, usize)> = None;
    while index < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                resume = Some((at, index));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[index] => {
                at += 1;
                index += 1;
            }
            _ => match resume {
                Some((star, from)) => {
                    resume = Some((star, from + 1));
                    at = star + 1;
                    index = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_package_managers_have_it() {
        for (pattern, path, expected) in [
            ("packages/*", "packages/a", true),
            ("packages/*", "packages/a/b", false),
            ("packages/**", "packages/a/b", true),
            ("**/test", "a/b/test", true),
            ("**/test", "test", true),
            ("**/test", "a/tests", false),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/**/b", "a/x/y/c", false),
            ("*", "a", true),
            ("*", "a/b", false),
            ("{apps,libs}/*", "libs/x", true),
            ("{apps,libs}/*", "lib/x", false),
            ("p?ck*e", "package", true),
            (".", "", false),
        ] {
            assert_eq!(matches(pattern, path, Stop::AtEnd), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn files_below_a_matched_folder_can_count() {
        assert!(matches("dist", "dist/a/b", Stop::AtAnyFolder));
        assert!(matches("**/x", "a/x/b", Stop::AtAnyFolder));
        assert!(!matches("dist", "distant/a", Stop::AtAnyFolder));
    }

    #[test]
    fn a_pattern_of_nothing_but_stars_ends() {
        let path = vec!["a"; 300].join("/");
        assert!(!matches(&"**/*a*a*a*a*a*a*a*a*b/".repeat(60), &path, Stop::AtEnd));
        assert!(!matches(
            &format!("{}b", "*a".repeat(2000)),
            &"a".repeat(4000),
            Stop::AtEnd
        ));
    }
}

//! Paths as text: relative to the repository root, separated by `/`, `""` for the root itself.

/// The folder of a path, `""` at the root.
pub(crate) fn folder(path: &str) -> &str {
    memchr::memrchr(b'/', path.as_bytes()).map_or("", |slash| &path[..slash])
}

/// `dir` and the folders around it, innermost first, up to the root.
pub(crate) fn around(dir: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir), |dir| (!dir.is_empty()).then(|| folder(dir)))
}

/// Writes `folder` joined with `relative` to `out`, and resolves `.` and `..`. `false` if this leads out of the root.
pub(crate) fn join(out: &mut String, folder: &str, relative: &str) -> bool {
    out.clear();
    out.push_str(folder);
    let mut start = 0;
    // Components are short: a memchr search for each slash would take longer than comparing every byte.
    for part in relative.as_bytes().split(|byte| *byte == b'/') {
        let end = start + part.len();
        let part = &relative[start..end];
        start = end + 1;
        match part {
            "" | "." => {}
            ".." => {
                if out.is_empty() {
                    return false;
                }
                out.truncate(memchr::memrchr(b'/', out.as_bytes()).unwrap_or(0));
            }
            name => {
                if !out.is_empty() {
                    out.push('/');
                }
                out.push_str(name);
            }
        }
    }
    true
}

/// [`join`] into a new string.
pub(crate) fn joined(folder: &str, relative: &str) -> Option<String> {
    let mut out = String::with_capacity(folder.len() + relative.len() + 1);
    join(&mut out, folder, relative).then_some(out)
}

/// `name` in `folder`, either of which may be empty.
pub(crate) fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        return name.to_owned();
    }
    if name.is_empty() {
        return folder.to_owned();
    }
    let mut path = String::with_capacity(folder.len() + name.len() + 1);
    path.push_str(folder);
    path.push('/');
    path.push_str(name);
    path
}

/// Whether `path` is `folder` or below it. Everything is below `""`.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_never_leave_the_root() {
        assert_eq!(joined("a/b", "./c").as_deref(), Some("a/b/c"));
        assert_eq!(joined("a/b", "../c//d/.").as_deref(), Some("a/c/d"));
        assert_eq!(joined("a", "..").as_deref(), Some(""));
        assert_eq!(joined("a", "../.."), None);
        assert_eq!(joined("", "x").as_deref(), Some("x"));
    }

    #[test]
    fn a_folder_contains_itself_and_everything_below() {
        assert!(is_within("a/b", "a"));
        assert!(is_within("a", "a"));
        assert!(!is_within("ab", "a"));
        assert!(is_within("ab", ""));
    }
}

//! The files of a patch in the form of `apply_patch`, and their changes. Codex and others send all of their edits so.

/// One file's change in a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum FilePatch<'a> {
    Added {
        path: &'a str,
        lines: Vec<&'a str>,
    },
    Removed {
        path: &'a str,
    },
    Updated {
        path: &'a str,
        moved_to: Option<&'a str>,
        hunks: Vec<Hunk<'a>>,
    },
}

/// Consecutive lines of a file, and their replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Hunk<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
}

/// The changes of `patch`, in order. Other lines are ignored.
pub(in super::super) fn parse_patch(patch: &str) -> Vec<FilePatch<'_>> {
    let mut changes = Vec::new();
    for line in patch.lines() {
        let header = |name: &str| line.strip_prefix(name).map(str::trim).filter(|path| !path.is_empty());
        if let Some(path) = header("*** Add File: ") {
            changes.push(FilePatch::Added {
                path,
                lines: Vec::new(),
            });
        } else if let Some(path) = header("*** Delete File: ") {
            changes.push(FilePatch::Removed { path });
        } else if let Some(path) = header("*** Update File: ") {
            changes.push(FilePatch::Updated {
                path,
                moved_to: None,
                hunks: Vec::new(),
            });
        } else {
            match changes.last_mut() {
                Some(FilePatch::Added { lines, .. }) => lines.extend(line.strip_prefix('+')),
                Some(FilePatch::Updated { moved_to, hunks, .. }) => match header("*** Move to: ") {
                    Some(path) => *moved_to = Some(path),
                    None => add_line(hunks, line),
                },
                _ => {}
            }
        }
    }
    changes
}

fn add_line<'a>(hunks: &mut Vec<Hunk<'a>>, line: &'a str) {
    if line.starts_with("@@") || hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return };
    match line.split_at_checked(1) {
        Some((" ", context)) => {
            hunk.old.push(context);
            hunk.new.push(context);
        }
        Some(("-", old)) => hunk.old.push(old),
        Some(("+", new)) => hunk.new.push(new),
        // Some agents omit the space of an empty line.
        None => {
            hunk.old.push("");
            hunk.new.push("");
        }
        _ => {}
    }
}

impl Hunk<'_> {
    /// Replaces the old lines in `content` with the new ones. If the old lines are not found, white space at their ends
    /// is ignored. `None` if they are still not found.
    pub(in super::super) fn apply_to(&self, content: &str) -> Option<String> {
        let lines: Vec<&str> = content.lines().collect();
        let position = match self.old.as_slice() {
            [] => Some(lines.len()),
            old => {
                let find_by = |is_same: fn(&str, &str) -> bool| {
                    let mut windows = lines.windows(old.len());
                    windows.position(|window| window.iter().zip(old).all(|(one, other)| is_same(one, other)))
                };
                find_by(|one, other| one == other).or_else(|| find_by(|one, other| one.trim() == other.trim()))
            }
        }?;
        let (before, rest) = lines.split_at(position);
        let after = rest.get(self.old.len()..)?;
        let lines = before.iter().chain(&self.new).chain(after);
        Some(lines.map(|line| format!("{line}\n")).collect())
    }
}

/// The files that `patch` writes, removes and moves, each once. A moved file has both of its names.
pub fn patched_files(patch: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for change in parse_patch(patch) {
        let (path, moved_to) = match change {
            FilePatch::Added { path, .. } | FilePatch::Removed { path } => (path, None),
            FilePatch::Updated { path, moved_to, .. } => (path, moved_to),
        };
        for name in std::iter::once(path).chain(moved_to) {
            if !files.iter().any(|file| file == name) {
                files.push(name.to_owned());
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_is_named_once_and_content_names_none() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@ fn main\n-old\n+*** Add File: no.rs\n \
                     *** Delete File: no.rs\n*** Add File: new file.rs\n+x\n*** Delete File: /abs/c.rs\n*** Update File: src/a.rs\n\
                     *** End Patch\n";
        assert_eq!(
            patched_files(patch),
            ["src/a.rs", "src/b.rs", "new file.rs", "/abs/c.rs"]
        );
        assert!(patched_files("--- a/x\n+++ b/x\n").is_empty());
        assert!(patched_files("*** Add File:  \r\n").is_empty());
    }

    #[test]
    fn a_hunk_is_found_as_it_is_or_but_for_blanks() {
        let hunk = Hunk {
            old: vec!["  b", "c"],
            new: vec!["  B"],
        };
        assert_eq!(hunk.apply_to("b\nc\n  b\nc\nd").as_deref(), Some("b\nc\n  B\nd\n"));
        assert_eq!(hunk.apply_to("a\nb \nc\n").as_deref(), Some("a\n  B\n"));
        assert_eq!(hunk.apply_to("a\nb\n"), None);
        assert_eq!(
            Hunk {
                old: vec![],
                new: vec!["x"]
            }
            .apply_to("a\n")
            .as_deref(),
            Some("a\nx\n")
        );
    }
}

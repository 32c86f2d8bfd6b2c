//! The files of a commit, or of a push to a branch.

use std::collections::BTreeSet;

use coord_domain::{Branch, FilePath};

/// Files that are committed or pushed to a branch.
#[derive(Clone, Debug)]
pub(super) struct BranchChange {
    pub(super) branch: Branch,
    pub(super) names: ChangedNames,
}

/// Changed files, by their paths in the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChangedNames {
    /// Files that can be locked.
    pub(super) files: BTreeSet<String>,
    /// Files whose names Coord rejects, for display: they cannot be locked.
    pub(super) unlockable: BTreeSet<String>,
}

impl ChangedNames {
    /// Parses a list that git separates by NUL (`-z`).
    pub(super) fn parse(output: &[u8]) -> ChangedNames {
        let mut names = ChangedNames::default();
        for name in output.split(|byte| *byte == 0) {
            // For a commit without files, git prints a newline.
            let name = name.strip_prefix(b"\n").unwrap_or(name);
            match std::str::from_utf8(name) {
                Ok("") => {}
                Ok(name) if FilePath::parse(name).is_ok() => drop(names.files.insert(name.to_owned())),
                _ => drop(names.unlockable.insert(format!("{:?}", String::from_utf8_lossy(name)))),
            }
        }
        names
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.unlockable.is_empty()
    }

    /// Keeps only the names that `other` has too.
    pub(super) fn retain(&mut self, other: &ChangedNames) {
        self.files.retain(|file| other.files.contains(file));
        self.unlockable.retain(|file| other.unlockable.contains(file));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_cannot_be_locked_is_set_apart_and_the_rest_stays() {
        let names = ChangedNames::parse(b"src/a.ts\0Icon\r\0\nb c\0x.md \0\xff\0a\\b\0");
        assert_eq!(names.files.iter().collect::<Vec<_>>(), ["b c", "src/a.ts"]);
        let unlockable: Vec<&String> = names.unlockable.iter().collect();
        assert_eq!(unlockable, [r#""Icon\r""#, r#""a\\b""#, r#""x.md ""#, "\"\u{fffd}\""]);
        assert!(ChangedNames::parse(b"").is_empty());
    }
}

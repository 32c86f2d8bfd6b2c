//! Pushes that no remote-tracking reference shows: to branches that the `fetch` lines of this clone leave out, as in a
//! single-branch or shallow clone, and to references that are not branches (`refs/for/main`). They are recorded in
//! git's folder.

use std::fmt;
use std::path::Path;

use coord_domain::{Branch, CommitSha};
use coord_files::{FILE_MODE, FileError, PRIVATE_MODE, RootedPath};

/// The file, in the folder that all worktrees share.
const FILE: &str = "coord/pushed";

/// Maximum number of recorded pushes: the newest.
const MAX_PUSHES: usize = 256;

/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 256 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedPush {
    pub commit: CommitSha,
    /// Whether the remote certainly has the commit. Otherwise the push has only begun.
    pub is_there: bool,
    /// The remote, by its name.
    pub remote: String,
    /// The full name of the reference at the remote.
    pub reference: String,
}

impl RecordedPush {
    /// The name by which Coord knows the reference: that of the branch, or else the reference without `refs/`.
    pub fn branch(&self) -> Option<Branch> {
        let name = self.reference.strip_prefix("refs/")?;
        let name = name.strip_prefix("heads/").unwrap_or(name);
        // Gerrit accepts options after a percent sign.
        Branch::parse(name.split('%').next()?).ok()
    }
}

impl fmt::Display for RecordedPush {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_there { "there" } else { "begun" };
        write!(out, "{} {state} {} {}", self.commit, self.remote, self.reference)
    }
}

fn parse(line: &str) -> Option<RecordedPush> {
    let words: Vec<&str> = line.split(' ').collect();
    let [commit, state @ ("there" | "begun"), remote, reference] = words[..] else {
        return None;
    };
    Some(RecordedPush {
        commit: CommitSha::parse(commit).ok()?,
        is_there: state == "there",
        remote: remote.to_owned(),
        reference: reference.to_owned(),
    })
}

/// The pushes that are recorded in git's folder `common_dir`, the newest last.
pub(super) fn read(common_dir: &Path) -> Vec<RecordedPush> {
    let file = file(common_dir);
    // Most clones have no such file, and this check is one system call instead of five.
    if !file.full().exists() {
        return Vec::new();
    }
    let text = file.read(MAX_BYTES).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().filter_map(parse).collect()
}

/// Records `push`, and removes an earlier record of the same reference.
pub(super) fn record(common_dir: &Path, push: RecordedPush) -> Result<(), FileError> {
    // A name with white space could not be read again.
    if [&push.remote, &push.reference]
        .iter()
        .any(|name| name.contains(char::is_whitespace))
    {
        return Ok(());
    }
    let is_other = |other: &RecordedPush| (&other.remote, &other.reference) != (&push.remote, &push.reference);
    let mut pushes: Vec<RecordedPush> = read(common_dir).into_iter().filter(is_other).collect();
    pushes.push(push);
    let text: String = pushes[pushes.len().saturating_sub(MAX_PUSHES)..]
        .iter()
        .map(|push| format!("{push}\n"))
        .collect();
    let file = file(common_dir);
    file.create_parents(PRIVATE_MODE)?;
    file.write(text.as_bytes(), FILE_MODE)
}

fn file(common_dir: &Path) -> RootedPath {
    RootedPath::new(common_dir, FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(reference: &str, digit: char) -> RecordedPush {
        RecordedPush {
            commit: CommitSha::parse(&digit.to_string().repeat(40)).unwrap(),
            is_there: digit != '0',
            remote: "origin".to_owned(),
            reference: reference.to_owned(),
        }
    }

    #[test]
    fn the_newest_push_to_a_reference_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (pushed("refs/heads/a", '0'), pushed("refs/for/main%wip", '2'));
        for pushed in [&one, &other, &pushed("refs/heads/a b", '3')] {
            record(folder.path(), pushed.clone()).unwrap();
        }
        assert_eq!(read(folder.path()), [one, other.clone()]);
        record(folder.path(), pushed("refs/heads/a", '1')).unwrap();
        assert_eq!(read(folder.path()), [other, pushed("refs/heads/a", '1')]);
        std::fs::write(file(folder.path()).full(), "x\n\u{0}\n").unwrap();
        assert_eq!(read(folder.path()), []);
    }

    #[test]
    fn a_reference_that_is_no_branch_has_a_name_too() {
        let name = |reference| pushed(reference, '1').branch().map(|branch| branch.to_string());
        assert_eq!(name("refs/heads/a/b").as_deref(), Some("a/b"));
        assert_eq!(name("refs/for/main%r=ada@example.com").as_deref(), Some("for/main"));
        assert_eq!(name("HEAD"), None);
    }
}

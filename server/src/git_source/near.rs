//! Names near one that does not exist.

use std::fs;
use std::io;
use std::path::Path;

use gix::bstr::{BStr, ByteSlice};

use super::bounded::Deadline;
use super::references::References;

/// Most names that an error lists.
pub(super) const MAX_NEAR: usize = 5;
/// Most names that are looked at; those beyond stay unseen.
const MAX_NAMES: usize = 200_000;
/// Deepest folder below `refs/heads` that is looked at.
const MAX_DEPTH: usize = 32;

/// Calls `see` with every local branch, packed or loose, without `refs/heads/`. A branch that is both is seen twice.
/// Stops early, and without an error, at the deadline or after [`MAX_NAMES`].
pub(super) fn each_branch(
    references: &References,
    common_dir: &Path,
    deadline: &Deadline,
    mut see: impl FnMut(&str),
) -> io::Result<()> {
    let mut left = MAX_NAMES;
    if let Some(packed) = references.packed()? {
        let heads = packed.iter_prefixed("refs/heads/".into()).map_err(io::Error::other)?;
        for reference in heads.filter_map(Result::ok) {
            if left == 0 || (left.is_multiple_of(256) && deadline.has_passed()) {
                return Ok(());
            }
            left -= 1;
            if let Some(name) = short_name(reference.name.as_bstr()) {
                see(name);
            }
        }
    }
    let mut folders = vec![(common_dir.join("refs").join("heads"), String::new(), 0)];
    while let Some((folder, prefix, depth)) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok) {
            if left == 0 || (left.is_multiple_of(256) && deadline.has_passed()) {
                return Ok(());
            }
            left -= 1;
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            let name = format!("{prefix}{name}");
            if kind.is_dir() {
                if depth < MAX_DEPTH {
                    folders.push((entry.path(), format!("{name}/"), depth + 1));
                }
            } else if !name.ends_with(".lock") {
                see(&name);
            }
        }
    }
    Ok(())
}

fn short_name(name: &BStr) -> Option<&str> {
    name.strip_prefix(b"refs/heads/")?.to_str().ok()
}

/// How near a name is; smaller is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// The same, but for upper and lower case.
    OtherCase,
    /// The same last part: `login` and `feature/login`.
    SameEnd(usize),
    /// A slip of the keyboard: one or two edits.
    Slip(usize),
    /// One contains the other; by how much longer it is.
    Contains(usize),
    /// No more than a third of it differs.
    Alike(usize),
}

/// Keeps the nearest names of all that it is shown.
pub(super) struct Nearest<'a> {
    asked: &'a str,
    asked_lower: String,
    best: Vec<(Nearness, String)>,
}

impl<'a> Nearest<'a> {
    pub(super) fn to(asked: &'a str) -> Self {
        Nearest {
            asked,
            asked_lower: asked.to_lowercase(),
            best: Vec::with_capacity(MAX_NEAR + 1),
        }
    }

    pub(super) fn see(&mut self, name: &str) {
        let Some(nearness) = self.nearness(name) else {
            return;
        };
        let place = self
            .best
            .partition_point(|(known, other)| (*known, other.as_str()) < (nearness, name));
        if place < MAX_NEAR && self.best.get(place).is_none_or(|(_, other)| other != name) {
            self.best.insert(place, (nearness, name.to_owned()));
            self.best.truncate(MAX_NEAR);
        }
    }

    /// Nearest first. `before` has names that belong behind those that differ in case only, and before all others.
    pub(super) fn into_names(self, before: Vec<String>) -> Vec<String> {
        let (same, others): (Vec<_>, Vec<_>) = self
            .best
            .into_iter()
            .partition(|(nearness, _)| *nearness == Nearness::OtherCase);
        let name = |(_, name): (Nearness, String)| name;
        let names = same.into_iter().map(name);
        names
            .chain(before)
            .chain(others.into_iter().map(name))
            .take(MAX_NEAR)
            .collect()
    }

    fn nearness(&self, name: &str) -> Option<Nearness> {
        if name == self.asked {
            return None;
        }
        let (asked, name) = (self.asked_lower.as_str(), name.to_lowercase());
        if asked == name {
            return Some(Nearness::OtherCase);
        }
        let longer = asked.len().abs_diff(name.len());
        if asked.rsplit('/').next() == name.rsplit('/').next() {
            return Some(Nearness::SameEnd(longer));
        }
        let shorter = asked.len().min(name.len());
        let alike = asked.len().max(name.len()) / 3;
        let edits = edits(asked.as_bytes(), name.as_bytes(), alike.max(2));
        match edits {
            Some(edits) if edits <= 2 && edits < shorter => Some(Nearness::Slip(edits)),
            _ if shorter >= 3 && (asked.contains(&name) || name.contains(asked)) => Some(Nearness::Contains(longer)),
            Some(edits) if edits <= alike => Some(Nearness::Alike(edits)),
            _ => None,
        }
    }
}

/// The Levenshtein distance of two names, unless it is more than `limit`.
fn edits(left: &[u8], right: &[u8], limit: usize) -> Option<usize> {
    if left.len().abs_diff(right.len()) > limit {
        return None;
    }
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (above, left_byte) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        let mut least = row[0];
        for (column, right_byte) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(left_byte != right_byte);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
            least = least.min(row[column + 1]);
        }
        if least > limit {
            return None;
        }
    }
    row.last().copied().filter(|edits| *edits <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(asked: &str, names: &[&str]) -> Vec<String> {
        let mut nearest = Nearest::to(asked);
        for name in names.iter().chain(names) {
            nearest.see(name);
        }
        nearest.into_names(Vec::new())
    }

    #[test]
    fn the_nearest_come_first() {
        let names = ["release", "mian", "Main", "maintenance", "fix/main", "mail", "next"];
        assert_eq!(
            near("main", &names),
            ["Main", "fix/main", "mail", "mian", "maintenance"]
        );
    }

    #[test]
    fn what_is_not_alike_is_not_listed() {
        assert!(near("main", &["next", "develop", "a", "main"]).is_empty());
        assert_eq!(
            near("feature/logn", &["feature/login", "feature/logout"])[0],
            "feature/login"
        );
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        for (left, right, distance) in [
            ("", "", 0),
            ("a", "", 1),
            ("kitten", "sitting", 3),
            ("main", "mian", 2),
            ("abc", "abc", 0),
        ] {
            assert_eq!(
                edits(left.as_bytes(), right.as_bytes(), 10),
                Some(distance),
                "{left} {right}"
            );
        }
        assert_eq!(edits(b"kitten", b"sitting", 2), None);
    }
}

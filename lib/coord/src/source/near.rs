//! Names near one that does not exist.

/// Most names that an error lists.
pub const MAX_NEAR: usize = 5;

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
#[derive(Debug)]
pub struct Nearest<'a> {
    asked: &'a str,
    asked_lower: String,
    best: Vec<(Nearness, String)>,
}

impl<'a> Nearest<'a> {
    /// Names near `asked`.
    pub fn to(asked: &'a str) -> Self {
        Nearest {
            asked,
            asked_lower: asked.to_lowercase(),
            best: Vec::with_capacity(MAX_NEAR + 1),
        }
    }

    /// Looks at one name; the same one may come again.
    pub fn see(&mut self, name: &str) {
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
    pub fn into_names(self, before: Vec<String>) -> Vec<String> {
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

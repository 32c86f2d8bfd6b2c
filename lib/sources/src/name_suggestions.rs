//! Names to suggest in place of one that does not exist: "did you mean".

use strsim::levenshtein;

/// Maximum number of names in an error.
const MOST_NAMES: usize = 5;

/// The distance of a name; smaller is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// The same except for case.
    OtherCase,
    /// The same last part: `login` and `feature/login`.
    SameEnd(usize),
    /// A typo: one or two edits.
    Slip(usize),
    /// One contains the other; the difference in length.
    Contains(usize),
    /// At most a third differs.
    Alike(usize),
}

/// The names nearest to one that does not exist, among those seen.
#[derive(Debug)]
pub struct NameSuggestions<'a> {
    wanted: &'a str,
    wanted_lower: String,
    best: Vec<(Nearness, String)>,
}

impl<'a> NameSuggestions<'a> {
    /// Suggestions for `wanted`.
    pub fn near(wanted: &'a str) -> Self {
        NameSuggestions {
            wanted,
            wanted_lower: wanted.to_lowercase(),
            best: Vec::with_capacity(MOST_NAMES + 1),
        }
    }

    /// Adds one name; duplicates are ignored.
    pub fn see(&mut self, name: &str) {
        let Some(nearness) = self.nearness(name) else {
            return;
        };
        let place = self
            .best
            .partition_point(|(known, other)| (*known, other.as_str()) < (nearness, name));
        if place < MOST_NAMES && self.best.get(place).is_none_or(|(_, other)| other != name) {
            self.best.insert(place, (nearness, name.to_owned()));
            self.best.truncate(MOST_NAMES);
        }
    }

    /// The suggestions, nearest first.
    pub fn into_names(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }

    fn nearness(&self, name: &str) -> Option<Nearness> {
        if name == self.wanted {
            return None;
        }
        let (wanted, name) = (self.wanted_lower.as_str(), name.to_lowercase());
        if wanted == name {
            return Some(Nearness::OtherCase);
        }
        let longer = wanted.len().abs_diff(name.len());
        if wanted.rsplit('/').next() == name.rsplit('/').next() {
            return Some(Nearness::SameEnd(longer));
        }
        let shorter = wanted.len().min(name.len());
        let alike = wanted.len().max(name.len()) / 3;
        // The difference in length is a lower bound of the distance.
        let edits = (longer <= alike.max(2)).then(|| levenshtein(wanted, &name));
        match edits {
            Some(edits) if edits <= 2 && edits < shorter => Some(Nearness::Slip(edits)),
            _ if shorter >= 3 && (wanted.contains(&name) || name.contains(wanted)) => Some(Nearness::Contains(longer)),
            Some(edits) if edits <= alike => Some(Nearness::Alike(edits)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(wanted: &str, names: &[&str]) -> Vec<String> {
        let mut suggestions = NameSuggestions::near(wanted);
        for name in names.iter().chain(names) {
            suggestions.see(name);
        }
        suggestions.into_names()
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
    fn dissimilar_names_are_not_listed() {
        assert!(near("main", &["next", "develop", "a", "main"]).is_empty());
        assert_eq!(
            near("feature/logn", &["feature/login", "feature/logout"])[0],
            "feature/login"
        );
    }
}

//! Names to suggest in place of one that does not exist: "did you mean".

use strsim::levenshtein;

/// Maximum number of names in an error.
const MAX_NAMES: usize = 5;

/// How a name differs from the wanted one; the smallest is the most similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    Case,
    /// The same last component: `login` and `feature/login`. The difference in length.
    Prefix(usize),
    /// One or two edits.
    Typo(usize),
    /// One contains the other; the difference in length.
    Containment(usize),
    /// Edits of at most a third.
    Edits(usize),
}

/// The names that are most similar to one that does not exist.
#[derive(Debug)]
pub struct NameSuggestions<'a> {
    wanted: &'a str,
    wanted_lowercase: String,
    best: Vec<(Difference, String)>,
}

impl<'a> NameSuggestions<'a> {
    pub fn new(wanted: &'a str) -> Self {
        NameSuggestions {
            wanted,
            wanted_lowercase: wanted.to_lowercase(),
            best: Vec::with_capacity(MAX_NAMES + 1),
        }
    }

    /// Adds one name; duplicates are ignored.
    pub fn add(&mut self, name: &str) {
        let Some(difference) = self.difference(name) else {
            return;
        };
        let index = self
            .best
            .partition_point(|(better, other)| (*better, other.as_str()) < (difference, name));
        if index < MAX_NAMES && self.best.get(index).is_none_or(|(_, other)| other != name) {
            self.best.insert(index, (difference, name.to_owned()));
            self.best.truncate(MAX_NAMES);
        }
    }

    /// The suggestions, the most similar first.
    pub fn into_names(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }

    /// `None` if the names are the same, or not similar.
    fn difference(&self, name: &str) -> Option<Difference> {
        if name == self.wanted {
            return None;
        }
        let (wanted, name) = (self.wanted_lowercase.as_str(), name.to_lowercase());
        if wanted == name {
            return Some(Difference::Case);
        }
        let length_difference = wanted.len().abs_diff(name.len());
        if wanted.rsplit('/').next() == name.rsplit('/').next() {
            return Some(Difference::Prefix(length_difference));
        }
        let shorter = wanted.len().min(name.len());
        let max_edits = wanted.len().max(name.len()) / 3;
        // Two names differ by at least as many edits as their lengths differ.
        let edits = (length_difference <= max_edits.max(2)).then(|| levenshtein(wanted, &name));
        match edits {
            Some(edits) if edits <= 2 && edits < shorter => Some(Difference::Typo(edits)),
            _ if shorter >= 3 && (wanted.contains(&name) || name.contains(wanted)) => {
                Some(Difference::Containment(length_difference))
            }
            Some(edits) if edits <= max_edits => Some(Difference::Edits(edits)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggest(wanted: &str, names: &[&str]) -> Vec<String> {
        let mut suggestions = NameSuggestions::new(wanted);
        for name in names.iter().chain(names) {
            suggestions.add(name);
        }
        suggestions.into_names()
    }

    #[test]
    fn the_most_similar_come_first() {
        let names = ["release", "mian", "Main", "maintenance", "fix/main", "mail", "next"];
        assert_eq!(
            suggest("main", &names),
            ["Main", "fix/main", "mail", "mian", "maintenance"]
        );
    }

    #[test]
    fn dissimilar_names_are_not_listed() {
        assert!(suggest("main", &["next", "develop", "a", "main"]).is_empty());
        assert_eq!(
            suggest("feature/logn", &["feature/login", "feature/logout"])[0],
            "feature/login"
        );
    }
}

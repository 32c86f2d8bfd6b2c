//! A scope: the patterns of an `owned_scope`.

use sha2::{Digest, Sha256};

use super::overlap::{self, Area, Overlap, StepBudget};
use super::pattern::Pattern;
use super::refusal::{ListProblem, MAX_PATTERNS, Refusal};
use super::rule::Rule;
use super::walk::Walk;

/// The files that an intent may change: 1 to 64 patterns.
#[derive(Clone, Debug)]
pub struct Scope {
    patterns: Vec<Pattern>,
    pub(super) rules: Vec<Rule>,
    areas: Vec<Area>,
}

impl Scope {
    /// Parses the patterns of an `owned_scope`.
    ///
    /// # Errors
    /// When there are none or too many, or one is refused.
    pub fn parse<T: AsRef<str>>(written: impl IntoIterator<Item = T>) -> Result<Self, Refusal> {
        let mut patterns = Vec::new();
        for text in written {
            patterns.extend(Pattern::parse(text.as_ref())?);
            if patterns.len() > MAX_PATTERNS {
                return Err(ListProblem::TooManyPatterns(patterns.len()).into());
            }
        }
        if patterns.is_empty() {
            return Err(ListProblem::NoPattern.into());
        }
        let rules: Vec<Rule> = patterns
            .iter()
            .enumerate()
            .flat_map(|(source, pattern)| pattern.rules(source))
            .collect();
        let areas = rules.iter().cloned().map(Area::new).collect();
        Ok(Scope { patterns, rules, areas })
    }

    /// The patterns, one for each alternative in braces.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Whether a pattern covers `path`, a file. For many paths, [`Judge`](super::Judge) is faster.
    pub fn covers(&self, path: impl AsRef<[u8]>) -> bool {
        self.walk().find(path.as_ref()).is_some()
    }

    /// How this scope and `other` overlap, if they do. All comparisons for one intent share `steps`.
    pub fn overlap(&self, other: &Scope, steps: &mut StepBudget) -> Option<Overlap> {
        let (own_index, other_index, example) = overlap::find_first(&self.areas, &other.areas, steps)?;
        Some(Overlap {
            pattern: self.patterns[own_index].as_str().to_owned(),
            other: other.patterns[other_index].as_str().to_owned(),
            example,
        })
    }

    /// The SHA-256 of the patterns as 64 digits, whatever their order. Scopes with the same digest cover the same
    /// files.
    pub fn digest(&self) -> String {
        let mut texts: Vec<&str> = self.patterns.iter().map(Pattern::as_str).collect();
        texts.sort_unstable();
        texts.dedup();
        let mut hash = Sha256::new();
        hash.update("coord scope v1\n");
        for text in texts {
            hash.update(text);
            // No pattern has a NUL.
            hash.update([0]);
        }
        format!("{:x}", hash.finalize())
    }

    pub(super) fn walk(&self) -> Walk<'_> {
        Walk::new(&self.rules)
    }
}

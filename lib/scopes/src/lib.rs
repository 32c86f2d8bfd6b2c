//! Patterns of files: what an intent may change, and what a policy is about.
//!
//! - A pattern is anchored at the root, with the meaning of `/PATTERN` in a `.gitignore`: `*`, `?`, `[a-z]`, `**`, `\`,
//!   a slash at the end for folders alone. A pattern that matches a folder covers all below it.
//! - A segment with brackets also matches itself: `app/[slug]/**` is a folder of Next.js.
//! - `{a,b}` is expanded when a scope is written. Patterns that are refused then are in [`Refusal`].
//! - [`Scope::within_breadth`] counts the files of a scope; [`IntentIgnore`] and [`reserved`] go before any scope;
//!   [`Judge`] applies all three.
//! - [`Matcher`] counts the cost of patterns; [`FileRules`] are patterns as those of `.gitattributes`.
//! - [`Scope::overlap`] says whether two scopes meet, and where.
//!
//! A path is matched segment by segment, for all patterns at once ([`walk`]), in time linear in the length of the path and in
//! that of the patterns. No pattern makes it turn back further than to the last star of a segment.

#[cfg(test)]
mod bounds;
mod braces;
mod brackets;
mod breadth;
mod common;
mod ignore;
mod judge;
mod matcher;
mod overlap;
mod pattern;
mod refusal;
mod reserved;
mod rule;
mod segment;
mod walk;

pub use breadth::{BroadScope, Count};
pub use ignore::{IgnoreReason, IntentIgnore};
pub use judge::{Judge, Verdict};
pub use matcher::{FileRules, Matcher};
pub use overlap::{Overlap, StepBudget};
pub use pattern::Pattern;
pub use refusal::{ListProblem, Refusal};
pub use reserved::{ReservedPart, reserved};

use sha2::{Digest, Sha256};

use overlap::Area;
use rule::Rule;
use walk::Walk;

/// Maximum number of patterns of a scope, and of alternatives of one pattern.
pub const MAX_PATTERNS: usize = 64;

/// Maximum length of a pattern.
pub const MAX_PATTERN_BYTES: usize = 512;

/// The files that an intent may change: 1 to 64 patterns.
#[derive(Clone, Debug)]
pub struct Scope {
    patterns: Vec<Pattern>,
    rules: Vec<Rule>,
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

    /// The patterns, each alternative in braces by itself.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Whether a pattern covers `path`, a file. For many paths, [`Judge`] is faster.
    pub fn covers(&self, path: impl AsRef<[u8]>) -> bool {
        self.walk().find(path.as_ref()).is_some()
    }

    /// Where this scope and another one meet. All comparisons for one intent share `steps`.
    pub fn overlap(&self, other: &Scope, steps: &mut StepBudget) -> Option<Overlap> {
        let (one, two, example) = overlap::first(&self.areas, &other.areas, steps)?;
        Some(Overlap {
            pattern: self.patterns[one].as_str().to_owned(),
            other: other.patterns[two].as_str().to_owned(),
            example,
        })
    }

    /// The SHA-256 of the patterns, in any order, as 64 digits: scopes with the same digest cover the same files.
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

    fn walk(&self) -> Walk<'_> {
        Walk::new(&self.rules)
    }
}

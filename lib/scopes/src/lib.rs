//! Patterns of files: the files that an intent may change, and the files of a policy.
//!
//! - A pattern is anchored at the root, with the meaning of `/PATTERN` in a `.gitignore`: `*`, `?`, `[a-z]`, `**`, `\`,
//!   a slash at the end for folders only. A pattern that matches a folder covers all files below it.
//! - A segment with brackets also matches itself: `app/[slug]/**` is a folder of Next.js.
//! - `{a,b}` is expanded when a scope is parsed. [`Refusal`] lists the refused patterns.
//! - [`Scope::check_breadth`] counts the files of a scope. [`IntentIgnore`] and [`reserved_part`] precede any scope;
//!   [`Judge`] applies all three.
//! - [`Matcher`] counts the cost of patterns; [`FileRules`] are patterns like those of `.gitattributes`.
//! - [`Scope::overlap`] decides whether two scopes overlap, and where.
//!
//! A path is matched segment by segment, for all patterns at once ([`walk`]). The time is linear in the length of the
//! path and in that of the patterns. No pattern makes it backtrack further than to the last star of a segment.

#[cfg(test)]
mod bounds;
mod braces;
mod brackets;
mod breadth;
mod common_name;
mod ignore;
mod judge;
mod matcher;
mod overlap;
mod owned_scope;
mod pattern;
mod refusal;
mod reserved;
mod rule;
mod segment;
mod walk;

pub use breadth::{BroadScope, Coverage};
pub use ignore::{IgnoreReason, IntentIgnore};
pub use judge::{Judge, Verdict};
pub use matcher::{FileRules, Matcher};
pub use overlap::{Overlap, StepBudget};
pub use owned_scope::Scope;
pub use pattern::Pattern;
pub use refusal::{ListProblem, MAX_PATTERN_BYTES, MAX_PATTERNS, Refusal};
pub use reserved::{ReservedPart, reserved_part};

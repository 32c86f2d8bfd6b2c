//! `.coord.toml`: a repository's own rules of locking, read at the head of a branch with its graph.
//!
//! - [`mod@file`]: the file, parsed; an error has a line and a column
//! - `attributes`: lines of `.gitattributes` about files that git merges by itself, or that are generated
//! - `lockfiles`: files that a tool regenerates, which are shared without any policy
//! - [`PolicyText`]: a policy as it is stored with a graph; [`Policy`]: the same, ready to judge files
//! - [`cache`]: the policies that a process knows, by digest

pub mod cache;
pub mod file;

mod attributes;
mod lockfiles;

pub use attributes::{AttributeRule, Attributes};
pub use lockfiles::SHARED_NAMES;

use coord_scopes::{FileRules, Matcher, Scope};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::LockConfig;
use coord_domain::NeighborPolicy;
use file::{PendingPolicy, PolicyFile};

/// The path of the policy file.
pub const PATH: &str = ".coord.toml";

/// The name of files of attributes, in any folder.
pub const ATTRIBUTES: &str = ".gitattributes";

/// Maximum number of steps that the patterns of a policy may take for the files of one request. After that, files are
/// locked as usual.
const STEPS_OF_REQUEST: u64 = 10_000_000;

/// Maximum number of steps for all files of a tree.
pub const STEPS_OF_TREE: u64 = 200_000_000;

/// A policy's rule for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// No rule: it is locked as usual.
    Plain,
    /// Several agents may write it at once.
    Shared,
    /// It has no lock, and is no neighbor.
    Ignored,
}

impl FileKind {
    /// The letter in scripts.
    pub fn letter(self) -> char {
        match self {
            FileKind::Plain => '-',
            FileKind::Shared => 'S',
            FileKind::Ignored => 'I',
        }
    }
}

/// The stored policy of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PolicyText {
    /// The last valid `.coord.toml`.
    pub file: PolicyFile,
    /// Lines of `.gitattributes` about `merge=union`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub union: Vec<AttributeRule>,
    /// Lines about `linguist-generated`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generated: Vec<AttributeRule>,
    /// The error in the file of the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The blobs that it was read from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sources: String,
}

impl PolicyText {
    /// The text in the store, and its digest, which ends with `!` if pending changes block
    /// (`locks/modules/pending.lua`); `None` if nothing differs from a repository without such files.
    pub fn to_stored(&self) -> Option<(String, String)> {
        let default = PolicyText {
            sources: self.sources.clone(),
            ..PolicyText::default()
        };
        if *self == default {
            return None;
        }
        let text = serde_json::to_string(self).ok()?;
        let suffix = match self.file.pending {
            PendingPolicy::Warn => "",
            PendingPolicy::Block => "!",
        };
        let digest = format!("{:x}{suffix}", Sha256::digest(&text));
        Some((text, digest))
    }

    /// Parses a stored text; the default if it is invalid.
    pub fn from_stored(text: &str) -> Self {
        serde_json::from_str(text).unwrap_or_default()
    }
}

/// Which files are shared.
#[derive(Debug)]
enum Shared {
    /// Lockfiles of tools, and the files that `.gitattributes` names.
    ByDefault { union: FileRules, generated: FileRules },
    /// Those that the policy names.
    Named(Option<Scope>),
}

/// The rules of a branch.
#[derive(Debug)]
pub struct Policy {
    text: PolicyText,
    shared: Shared,
    ignore: Option<Scope>,
}

impl Default for Policy {
    fn default() -> Self {
        Policy::of(PolicyText::default())
    }
}

impl Policy {
    /// The rules of `text`.
    pub fn of(text: PolicyText) -> Self {
        let shared = match &text.file.shared {
            Some(patterns) => Shared::Named(file::parse_scope(patterns)),
            None => Shared::ByDefault {
                union: attributes::file_rules(&text.union),
                generated: attributes::file_rules(&text.generated),
            },
        };
        Policy {
            shared,
            ignore: file::parse_scope(&text.file.ignore),
            text,
        }
    }

    /// The file as it is written.
    pub fn file(&self) -> &PolicyFile {
        &self.text.file
    }

    /// The error in the file of the head. An older file is used until it is fixed.
    pub fn problem(&self) -> Option<&str> {
        self.text.problem.as_deref()
    }

    /// The warning about [`Self::problem`].
    pub fn warning(&self) -> Option<String> {
        let problem = self.problem()?;
        Some(format!("POLICY_INVALID: {problem}; the last valid policy applies."))
    }

    /// The effect of written neighbors.
    pub fn neighbors(&self, operator: &LockConfig) -> NeighborPolicy {
        self.text.file.neighbors.unwrap_or(operator.neighbor_policy)
    }

    /// Seconds until a lock expires, within the bounds of the operator.
    pub fn ttl_seconds(&self, operator: &LockConfig) -> u32 {
        match self.text.file.ttl_seconds {
            Some(seconds) => seconds.min(operator.max_ttl_seconds.max(operator.ttl_seconds)),
            None => operator.ttl_seconds,
        }
    }

    /// A judge of files that takes about `max_steps` steps at most.
    pub fn judge_within(&self, max_steps: u64) -> PolicyJudge<'_> {
        let (shared, shares_lockfiles) = match &self.shared {
            Shared::ByDefault { union, generated } => (vec![union.matcher(), generated.matcher()], true),
            Shared::Named(scope) => (scope.iter().map(Scope::matcher).collect(), false),
        };
        PolicyJudge {
            shared,
            ignore: self.ignore.as_ref().map(Scope::matcher),
            shares_lockfiles,
            max_steps,
        }
    }

    /// A judge of the files of a request.
    pub fn judge(&self) -> PolicyJudge<'_> {
        self.judge_within(STEPS_OF_REQUEST)
    }
}

/// Judges files one by one by the rules of a branch.
pub struct PolicyJudge<'p> {
    shared: Vec<Matcher<'p>>,
    ignore: Option<Matcher<'p>>,
    shares_lockfiles: bool,
    max_steps: u64,
}

impl PolicyJudge<'_> {
    /// The policy's rule for `path`; [`FileKind::Plain`] once the patterns have taken too many steps.
    pub fn kind(&mut self, path: &str) -> FileKind {
        if self.is_exhausted() {
            return FileKind::Plain;
        }
        if self.ignore.as_mut().is_some_and(|ignore| ignore.matches(path)) {
            return FileKind::Ignored;
        }
        let is_shared = (self.shares_lockfiles && lockfiles::is_lockfile(path))
            || self.shared.iter_mut().any(|shared| shared.matches(path));
        match is_shared {
            true => FileKind::Shared,
            false => FileKind::Plain,
        }
    }

    /// Whether the patterns have taken too many steps.
    pub fn is_exhausted(&self) -> bool {
        let matchers = self.shared.iter().chain(&self.ignore);
        matchers.map(Matcher::steps).sum::<u64>() > self.max_steps
    }
}

#[cfg(test)]
mod tests;

//! `.coord.toml`: a repository's own rules of locking, read at the head of a branch with its graph.
//!
//! - [`mod@file`]: the file, parsed; an error has a line and a column
//! - `attributes`: lines of `.gitattributes` about files that merge by themselves, or are generated
//! - `lockfiles`: files that a tool makes again, which are shared without any policy
//! - [`PolicyText`]: all of it as it is stored with a graph; [`Policy`]: the same, ready to judge files
//! - [`cache`]: the policies that a process knows, by digest

pub mod cache;
pub mod file;

mod attributes;
mod lockfiles;

pub use attributes::AttributeRule;
pub use attributes::Attributes;
pub use lockfiles::SHARED_NAMES;

use coord_scopes::{FileRules, Matcher, Scope};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::LockConfig;
use coord_domain::NeighborPolicy;
use file::{PendingPolicy, PolicyFile};

/// The path of the file.
pub const PATH: &str = ".coord.toml";

/// The name of files of attributes, in any folder.
pub const ATTRIBUTES: &str = ".gitattributes";

/// Most steps that the patterns of a policy may take for the files of one request. Those behind are locked as usual.
const STEPS_OF_REQUEST: u64 = 10_000_000;

/// Most steps for all files of a tree.
pub const STEPS_OF_TREE: u64 = 200_000_000;

/// A policy's rule for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Nothing: it is locked as documented.
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
    /// The last good `.coord.toml`.
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
    /// The text in the store, and its digest, which ends with `!` where pending changes block (`locks/modules/pending.lua`); none where nothing differs from a repository without any such file.
    pub fn to_stored(&self) -> Option<(String, String)> {
        let plain = PolicyText {
            sources: self.sources.clone(),
            ..PolicyText::default()
        };
        if *self == plain {
            return None;
        }
        let text = serde_json::to_string(self).ok()?;
        let sign = match self.file.pending {
            PendingPolicy::Warn => "",
            PendingPolicy::Block => "!",
        };
        let digest = format!("{:x}{sign}", Sha256::digest(&text));
        Some((text, digest))
    }

    /// The text of such a value; the default where it is none.
    pub fn of_stored(text: &str) -> Self {
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
            Some(patterns) => Shared::Named(file::scope(patterns)),
            None => Shared::ByDefault {
                union: attributes::rules(&text.union),
                generated: attributes::rules(&text.generated),
            },
        };
        Policy {
            shared,
            ignore: file::scope(&text.file.ignore),
            text,
        }
    }

    /// The file as it is written.
    pub fn file(&self) -> &PolicyFile {
        &self.text.file
    }

    /// The error in the file of the head, so that an older one is used.
    pub fn problem(&self) -> Option<&str> {
        self.text.problem.as_deref()
    }

    /// The warning about it.
    pub fn warning(&self) -> Option<String> {
        let problem = self.problem()?;
        Some(format!("POLICY_INVALID: {problem}; the last good policy counts."))
    }

    /// The effect of written neighbors.
    pub fn neighbors(&self, operator: &LockConfig) -> NeighborPolicy {
        self.text.file.neighbors.unwrap_or(operator.neighbor_policy)
    }

    /// Seconds until a lock expires, within the bounds of the operator.
    pub fn ttl_seconds(&self, operator: &LockConfig) -> u32 {
        match self.text.file.ttl_seconds {
            Some(seconds) => seconds.min(operator.most_ttl_seconds.max(operator.ttl_seconds)),
            None => operator.ttl_seconds,
        }
    }

    /// Judges files one after the other, in at most so many steps.
    pub fn judge_within(&self, most_steps: u64) -> PolicyJudge<'_> {
        let (shared, by_default) = match &self.shared {
            Shared::ByDefault { union, generated } => (vec![union.matcher(), generated.matcher()], true),
            Shared::Named(scope) => (scope.iter().map(Scope::matcher).collect(), false),
        };
        PolicyJudge {
            shared,
            ignore: self.ignore.as_ref().map(Scope::matcher),
            by_default,
            most_steps,
        }
    }

    /// Judges the files of a request.
    pub fn judge(&self) -> PolicyJudge<'_> {
        self.judge_within(STEPS_OF_REQUEST)
    }
}

/// The rules of a branch, for one file after the other.
pub struct PolicyJudge<'p> {
    shared: Vec<Matcher<'p>>,
    ignore: Option<Matcher<'p>>,
    by_default: bool,
    most_steps: u64,
}

impl PolicyJudge<'_> {
    /// The policy's rule for `path`; [`FileKind::Plain`] once it has taken too long.
    pub fn kind(&mut self, path: &str) -> FileKind {
        if self.is_over() {
            return FileKind::Plain;
        }
        if self.ignore.as_mut().is_some_and(|ignore| ignore.matches(path)) {
            return FileKind::Ignored;
        }
        let is_shared = (self.by_default && lockfiles::is_lockfile(path))
            || self.shared.iter_mut().any(|shared| shared.matches(path));
        match is_shared {
            true => FileKind::Shared,
            false => FileKind::Plain,
        }
    }

    /// Whether the patterns have taken too long.
    pub fn is_over(&self) -> bool {
        let all = self.shared.iter().chain(&self.ignore);
        all.map(Matcher::steps).sum::<u64>() > self.most_steps
    }
}

#[cfg(test)]
mod tests;

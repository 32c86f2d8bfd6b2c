//! The policy of `.coord.toml` for the files of a request (`modules/policy.lua`), and the caller's declarations about
//! their interfaces.

use coord_protocol::InterfacePromise;
use serde::Serialize;

use coord_domain::{FilePath, NeighborPolicy};
use coord_settings::policy::{FileKind, SHARED_NAMES};

/// The rules of a branch for a request, and for its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTerms {
    /// The effect of a neighbor that is locked for writing.
    pub neighbors: NeighborPolicy,
    /// Digest of the policy by which the files were judged; empty for none.
    pub digest: String,
    /// The kinds of the files: those of the request in their order, or those in `files`.
    pub kinds: Vec<FileKind>,
    /// The files, if only the store knows them.
    pub files: Vec<String>,
    /// The caller's declarations about the interfaces of the files.
    pub interface: InterfaceTerms,
    /// Seconds for which later claims may overtake a refused claim: `modules/queue.lua`.
    pub patience_seconds: u32,
}

/// A caller's declarations about the interfaces of the files that it writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceTerms {
    /// Whether the interfaces change. If absent, a new claim may change them, and a renewal leaves the earlier declaration.
    pub promise: Option<InterfacePromise>,
    /// Files whose interfaces change regardless of `promise`.
    pub changed: Vec<FilePath>,
}

impl Default for PolicyTerms {
    fn default() -> Self {
        PolicyTerms {
            neighbors: NeighborPolicy::default(),
            digest: String::new(),
            kinds: Vec::new(),
            files: Vec::new(),
            interface: InterfaceTerms::default(),
            patience_seconds: coord_settings::QUEUE_PATIENCE_SECONDS,
        }
    }
}

impl PolicyTerms {
    /// The terms of a repository without a policy.
    pub fn of(neighbors: NeighborPolicy) -> Self {
        PolicyTerms {
            neighbors,
            ..PolicyTerms::default()
        }
    }

    /// The field `policy` of a request for `paths`. Files that were not judged count as plain.
    pub(super) fn to_args(&self, paths: &[FilePath], wait_seconds: u32) -> PolicyArgs<'_> {
        let kinds = self.kinds.iter().copied().chain(std::iter::repeat(FileKind::Plain));
        let kinds = || paths.iter().zip(kinds.clone()).map(|(_, kind)| kind);
        PolicyArgs {
            letters: kinds()
                .any(|kind| kind != FileKind::Plain)
                .then(|| kinds().map(FileKind::letter).collect()),
            files: &[],
            names: None,
            wait: wait_seconds,
            ..self.task_args()
        }
    }

    /// The field `policy` of a request for files that only the store knows.
    pub fn task_args(&self) -> PolicyArgs<'_> {
        PolicyArgs {
            neighbors: (self.neighbors != NeighborPolicy::default()).then(|| self.neighbors.as_str()),
            digest: &self.digest,
            letters: Some(self.kinds.iter().copied().map(FileKind::letter).collect()),
            files: &self.files,
            names: Some(format!("\n{}\n", SHARED_NAMES.join("\n"))),
            interface: self.interface.promise.map(InterfacePromise::as_str),
            changed: &self.interface.changed,
            wait: 0,
            patience: self.patience_seconds,
        }
    }
}

/// Arguments of `modules/policy.lua`.
#[derive(Serialize)]
pub struct PolicyArgs<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbors: Option<&'static str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    digest: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    letters: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    files: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interface: Option<&'static str>,
    #[serde(skip_serializing_if = "<[FilePath]>::is_empty")]
    changed: &'a [FilePath],
    #[serde(skip_serializing_if = "is_zero")]
    wait: u32,
    patience: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

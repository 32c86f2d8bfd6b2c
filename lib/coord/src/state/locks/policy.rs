//! What `.coord.toml` says of the files of a request (`includes/policy.lua`), and the caller of their interfaces.

use coord_protocol::InterfacePromise;

use crate::domain::{FilePath, NeighborPolicy};
use crate::policy::{FileKind, SHARED_NAMES};
use crate::state::reply::arguments;

/// The rules of a branch for a request, and what they say of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyTerms {
    /// The effect of a neighbor that is locked for writing.
    pub neighbors: NeighborPolicy,
    /// Digest of the policy by which the files were judged; empty for none.
    pub digest: String,
    /// What it says of the files: those of the request in their order, or those that only the store knows.
    pub kinds: Vec<FileKind>,
    /// These files, where the request does not name them.
    pub files: Vec<String>,
    /// What the caller says of the interfaces of the files.
    pub interface: InterfaceTerms,
    /// Seconds for which a claim that is refused lets later ones take its files: `includes/queue.lua`.
    pub patience_seconds: u32,
}

/// What a caller says of the interfaces of the files that it writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceTerms {
    /// What becomes of them; without it, a new claim may change them, and a renewal leaves what was said.
    pub word: Option<InterfacePromise>,
    /// Those that change all the same.
    pub changed: Vec<FilePath>,
}

impl InterfaceTerms {
    /// The text of `read_interface()`.
    fn text(&self) -> String {
        let word = self.word.map_or("", InterfacePromise::as_str);
        let changed = self.changed.iter().map(FilePath::as_str);
        std::iter::once(word).chain(changed).collect::<Vec<_>>().join("\n")
    }
}

impl Default for PolicyTerms {
    fn default() -> Self {
        PolicyTerms {
            neighbors: NeighborPolicy::default(),
            digest: String::new(),
            kinds: Vec::new(),
            files: Vec::new(),
            interface: InterfaceTerms::default(),
            patience_seconds: Self::DEFAULT_PATIENCE_SECONDS,
        }
    }
}

impl PolicyTerms {
    /// By the contest of `cli/benches/contest`: with less, files stay free for claims that would soon have had them.
    pub const DEFAULT_PATIENCE_SECONDS: u32 = 180;

    /// Those of a repository without a policy.
    pub fn of(neighbors: NeighborPolicy) -> Self {
        PolicyTerms {
            neighbors,
            ..PolicyTerms::default()
        }
    }

    /// Neighbor policy, digest, the letters of `paths`, and the text of the interfaces; what was not judged is as a repository without a policy has it.
    pub(super) fn arguments(&self, paths: &[FilePath]) -> Vec<Vec<u8>> {
        let kinds = self.kinds.iter().copied().chain(std::iter::repeat(FileKind::Plain));
        let letters: String = paths.iter().zip(kinds).map(|(_, kind)| kind.letter()).collect();
        arguments([self.neighbors.as_str(), &self.digest, &letters, &self.interface.text()])
    }

    /// Neighbor policy, digest, the files that were judged, the names of shared files without a policy, the text of the interfaces, and the
    /// patience.
    pub(in crate::state) fn arguments_of_task(&self) -> Vec<Vec<u8>> {
        let judged = self.files.iter().zip(&self.kinds);
        let lines: String = judged
            .map(|(path, kind)| format!("{}{path}\n", kind.letter()))
            .collect();
        let names = format!("\n{}\n", SHARED_NAMES.join("\n"));
        let patience = self.patience_seconds.to_string();
        arguments([
            self.neighbors.as_str(),
            &self.digest,
            &lines,
            &names,
            &self.interface.text(),
            &patience,
        ])
    }
}

//! What `.coord.toml` says of the files of a request (`includes/policy.lua`), and the caller of their interfaces.

use coord_protocol::InterfacePromise;

use crate::domain::{FilePath, NeighborPolicy};
use crate::policy::{FileKind, SHARED_NAMES};
use crate::state::reply::arguments;

/// The rules of a branch for a request, and what they say of its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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

impl PolicyTerms {
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

    /// Neighbor policy, digest, the files that were judged, the names of shared files without a policy, and the text of the interfaces.
    pub(in crate::state) fn arguments_of_task(&self) -> Vec<Vec<u8>> {
        let judged = self.files.iter().zip(&self.kinds);
        let lines: String = judged
            .map(|(path, kind)| format!("{}{path}\n", kind.letter()))
            .collect();
        let names = format!("\n{}\n", SHARED_NAMES.join("\n"));
        arguments([
            self.neighbors.as_str(),
            &self.digest,
            &lines,
            &names,
            &self.interface.text(),
        ])
    }
}

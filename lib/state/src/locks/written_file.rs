use serde::Deserialize;

use coord_domain::CommitSha;

/// A written file whose work only the source can find on the branch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct WrittenFile {
    pub path: String,
    /// Head of the branch when it was claimed.
    pub claim_head: CommitSha,
}

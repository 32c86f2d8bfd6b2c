//! The ledger of a repository.

use coord_domain::RepoId;
use coord_state::keys::of;

/// stream: the lines of the ledger, each in the field `line`, without their `chain`.
pub fn ledger(repo: &RepoId) -> String {
    of("coord:ledger:", repo, &[])
}

/// hash: where the chain of the lines begins, and how far it is sealed; see `seal_ledger.lua`.
pub fn seal(repo: &RepoId) -> String {
    of("coord:seal:", repo, &[])
}

/// zset: holder and trace id of a line -> when it was recorded, Unix seconds; for a day.
pub fn traces(repo: &RepoId) -> String {
    of("coord:traces:", repo, &[])
}

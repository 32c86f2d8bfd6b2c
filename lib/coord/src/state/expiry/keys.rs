//! The list of repositories in which something expires.

use crate::domain::RepoId;
use crate::state::keys::of;

/// zset: repository -> a lower bound of its earliest lock expiry (Unix seconds). What the sweep looks at.
/// While a sweep looks at a repository it is the member `sweeping:REPO`, scored with when that sweep's turn ends; one that is
/// looked at a last time before it is forgotten is `idle:REPO`.
pub const DUE: &str = "coord:due";

/// hash: repository -> name of the claim that has put it into [`DUE`] and that nobody else has relied on; a minute. In the slot
/// of that, and expendable: without it a mark stays until the sweep has looked.
pub const DUE_CLAIMS: &str = "coord:limit:{coord:due}";

/// string: the repository is on the list of what is due, with this expiry (Unix seconds) or an earlier one; see `mark_due.lua`.
pub fn marked(repo: &RepoId) -> String {
    of("coord:marked:", repo, &[])
}

/// zset: what is held of one kind -> when it expires, Unix seconds. The sweep has one index for each kind.
pub(in crate::state) fn index(repo: &RepoId, kind: &str) -> String {
    of("coord:expiries:", repo, &[":", kind])
}

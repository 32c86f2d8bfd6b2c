//! The list of repositories in which something expires.

use crate::keys::of;
use crate::request_keys::Keys;
use coord_domain::RepoId;

/// zset: repository -> a lower bound of its earliest lock expiry (Unix seconds): the due list of the sweep. During a sweep,
/// the member of a repository is `sweeping:REPO`, with the end of the sweep's lease as score. Before the last check, after
/// which it is removed, it is `idle:REPO`.
pub const DUE: &str = "coord:due";

/// hash: repository -> name of the claim that put it into [`DUE`], while no other claim relies on that; kept for a minute.
/// It is in the slot of [`DUE`], and expendable: without it, an entry stays until the next check.
pub const DUE_CLAIMS: &str = "coord:limit:{coord:due}";

/// KEYS of changes of the due list for one repository.
pub(super) fn due() -> Keys {
    Keys::of([("due", DUE.to_owned()), ("claims", DUE_CLAIMS.to_owned())])
}

/// string: the repository is on the due list, with this expiry (Unix seconds) or an earlier one; see `mark_due.lua`.
pub fn marked(repo: &RepoId) -> String {
    of("coord:marked:", repo, &[])
}

/// zset: held item of one kind -> when it expires, Unix seconds. There is one index for each kind.
pub fn index(repo: &RepoId, kind: &str) -> String {
    of("coord:expiries:", repo, &[":", kind])
}

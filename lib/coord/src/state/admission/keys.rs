//! Verified identities and rate limits.

use crate::domain::RepoId;
use crate::state::keys::of;

/// What the keys of limits begin with.
pub(in crate::state) const LIMITS: &str = "coord:limit:";

/// string: who has the credential named by `credential`, and what it may do in the repository; JSON, kept for a day. Verified
/// credentials alone have one.
pub fn identity(repo: &RepoId, credential: &str) -> String {
    of("coord:identity:", repo, &[":", credential])
}

/// string: how much of its rate limits a person (SHA-1 of the login) or the repository (`all`) has used, as theoretical
/// arrival times in Unix milliseconds; see `includes/limits.lua`. [`crate::state::is_expendable`].
pub fn limit(repo: &RepoId, whose: &str) -> String {
    of(LIMITS, repo, &[":", whose])
}

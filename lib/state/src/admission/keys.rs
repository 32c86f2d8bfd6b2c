//! Verified identities and rate limits.

use crate::keys::of;
use coord_domain::RepoId;

/// Prefix of the keys of rate limits.
pub(crate) const LIMITS: &str = "coord:limit:";

/// string: holder of the credential with the name `credential`, and its rights in the repository; JSON, kept for a day. Only
/// verified credentials have this key.
pub fn identity(repo: &RepoId, credential: &str) -> String {
    of("coord:identity:", repo, &[":", credential])
}

/// string: rate limits used by a person (SHA-1 of the login) or by the repository (`all`), as theoretical arrival times in
/// Unix milliseconds; see `modules/limits.lua`. [`crate::is_expendable`].
pub fn limit(repo: &RepoId, whose: &str) -> String {
    of(LIMITS, repo, &[":", whose])
}

//! Locks, and what is kept of claims and releases.

use crate::domain::RepoId;
use crate::state::expiry;
use crate::state::keys::of;

/// What the keys of refusals begin with.
pub(in crate::state) const REFUSALS: &str = "coord:refusals:";

/// hash: file path -> JSON array of lock entries, all branches.
pub fn locks(repo: &RepoId) -> String {
    of("coord:locks:", repo, &[])
}

/// zset: file path -> earliest expiry (Unix seconds) of the entries under it in [`locks`]; exact.
pub fn expiries(repo: &RepoId) -> String {
    expiry::keys::index(repo, "locks")
}

/// hash: `@` and a login -> how many locks that person has in the repository, and `all` -> how many there are; exact.
pub fn held(repo: &RepoId) -> String {
    of("coord:held:", repo, &[])
}

/// hash: who, on which branch -> what was given back in the last ten minutes, and what was answered; JSON.
pub fn releases(repo: &RepoId) -> String {
    of("coord:releases:", repo, &[])
}

/// string: the newest fencing token given in this repository.
pub fn token(repo: &RepoId) -> String {
    of("coord:token:", repo, &[])
}

/// hash: digest of a refused request -> when its refusal was logged, and how often it was refused since. [`crate::state::is_expendable`].
pub fn refusals(repo: &RepoId) -> String {
    of(REFUSALS, repo, &[])
}

/// KEYS of locks in a sweep, by `includes/expired.lua`.
pub(in crate::state) fn swept(repo: &RepoId) -> Vec<String> {
    vec![locks(repo), expiries(repo), held(repo)]
}

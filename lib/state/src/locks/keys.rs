//! Locks, and records of claims and releases.

use crate::expiry;
use crate::keys::of;
use crate::request_keys::NamedKey;
use coord_domain::RepoId;

/// hash: file path -> JSON array of lock entries, for all branches.
pub fn locks(repo: &RepoId) -> String {
    of("coord:locks:", repo, &[])
}

/// zset: file path -> earliest expiry (Unix seconds) of its entries in [`locks`]; exact.
pub fn expiries(repo: &RepoId) -> String {
    expiry::keys::index(repo, "locks")
}

/// hash: `@` and a login -> number of locks of that person in the repository, and `all` -> number of all; exact.
pub fn held(repo: &RepoId) -> String {
    of("coord:held:", repo, &[])
}

/// Prefix of the keys of queues.
pub(crate) const QUEUE: &str = "coord:queue:";

/// string: the tickets of claims that others' locks blocked, a JSON array in their order; it expires with the last ticket.
/// [`crate::is_expendable`].
pub fn queue(repo: &RepoId) -> String {
    of(QUEUE, repo, &[])
}

/// string: force-released locks whose holders have not been notified yet; a JSON array, an hour.
pub fn taken(repo: &RepoId) -> String {
    of("coord:taken:", repo, &[])
}

/// hash: holder and branch -> releases of the last ten minutes, and their outcomes; JSON.
pub fn releases(repo: &RepoId) -> String {
    of("coord:releases:", repo, &[])
}

/// hash: file path -> JSON array of its changes on work branches, for all branches; see `modules/pending.lua`.
pub fn pending(repo: &RepoId) -> String {
    of("coord:pending:", repo, &[])
}

/// string: the latest fencing token of this repository.
pub fn token(repo: &RepoId) -> String {
    of("coord:token:", repo, &[])
}

/// string: version of the gate's records, a number that grows with each change. Without it, no key of the gate is read.
pub fn governed(repo: &RepoId) -> String {
    of("coord:governed:", repo, &[])
}

/// KEYS of locks in a sweep, by `modules/expired.lua`.
pub(crate) fn sweep_keys(repo: &RepoId) -> Vec<NamedKey> {
    vec![
        ("locks", locks(repo)),
        ("expiries", expiries(repo)),
        ("held", held(repo)),
    ]
}

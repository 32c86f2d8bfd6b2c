//! Heads of branches.

use crate::keys::of;
use coord_domain::{Branch, RepoId};

/// hash: newest known commit, since when it is known and from where (`origin`), recent commits, ETag, when it was last confirmed, and
/// when it may be fetched again.
pub fn head(repo: &RepoId, branch: &Branch) -> String {
    of("coord:head:", repo, &[":", branch.as_str()])
}

/// string: when a webhook last delivered a push to the repository, Unix seconds; while it exists, heads are trusted for longer.
pub fn webhook(repo: &RepoId) -> String {
    of("coord:webhook:", repo, &[])
}

/// string: the name under which a push to the repository with this number, on the host of `repo`, was last delivered.
pub fn delivered_name(repo: &RepoId, number: u64) -> String {
    let host = repo.as_str().split('/').next().unwrap_or_default();
    format!("coord:delivered-name:{{{host}}}:{number}")
}

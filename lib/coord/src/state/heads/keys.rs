//! Heads of branches.

use crate::domain::{Branch, RepoId};
use crate::state::keys::of;

/// hash: newest known commit, since when it is known and from where (`origin`), recent commits, ETag, when it was last looked at, and when it may be
/// asked for again.
pub fn head(repo: &RepoId, branch: &Branch) -> String {
    of("coord:head:", repo, &[":", branch.as_str()])
}

/// string: when a webhook last delivered a push to the repository, Unix seconds; while it is there, heads are trusted for longer.
pub fn webhook(repo: &RepoId) -> String {
    of("coord:webhook:", repo, &[])
}

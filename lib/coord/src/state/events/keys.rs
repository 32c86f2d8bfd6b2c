//! The log of events, and the channel.

use crate::domain::RepoId;
use crate::state::keys::of;

/// stream: every event, bounded; its id is the resume cursor.
pub fn status_log(repo: &RepoId) -> String {
    of("coord:status_log:", repo, &[])
}

/// channel: the same events, pushed.
pub fn events(repo: &RepoId) -> String {
    of("coord:events:", repo, &[])
}

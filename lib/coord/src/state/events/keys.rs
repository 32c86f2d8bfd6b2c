//! The log of events, and the channel.

use crate::domain::RepoId;
use crate::state::keys::of;

/// stream: all events, bounded; an id is the cursor to resume from.
pub fn status_log(repo: &RepoId) -> String {
    of("coord:status_log:", repo, &[])
}

/// channel: the same events.
pub fn events(repo: &RepoId) -> String {
    of("coord:events:", repo, &[])
}

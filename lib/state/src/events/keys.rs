//! The log of events, the channel, and refusals that were logged.

use crate::keys::of;
use coord_domain::RepoId;

/// Prefix of the keys of refusals.
pub(crate) const REFUSALS: &str = "coord:refusals:";

/// stream: all events, bounded; readers resume from the id of an event.
pub fn status_log(repo: &RepoId) -> String {
    of("coord:status_log:", repo, &[])
}

/// channel: the same events.
pub fn events(repo: &RepoId) -> String {
    of("coord:events:", repo, &[])
}

/// hash: digest of a refused request -> time of its log entry, and number of refusals since.
/// [`crate::is_expendable`].
pub fn refusals(repo: &RepoId) -> String {
    of(REFUSALS, repo, &[])
}

/// hash: login -> how much of its share of the ledger it has used, and when it last appended; a line feed -> the maximum of kept
/// lines: see `ledger/modules/append.lua`; a line feed and `events` -> the newest dropped event: see `modules/room.lua`.
pub fn shares(repo: &RepoId) -> String {
    of("coord:shares:", repo, &[])
}

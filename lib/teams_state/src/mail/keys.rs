//! Messages of a team.

use coord_domain::RepoId;
use coord_domain::team::TeamName;
use coord_state::keys::of;

/// zset of score 0: `=HANDLE SEQUENCE ORDINAL` for a message to a member, `* SEQUENCE ORDINAL SENDER OWN` for a broadcast, and
/// `>SENDER SEQUENCE OWN` for that of the sender; in this order they are the inboxes.
pub fn mail(repo: &RepoId, team: &TeamName) -> String {
    of("coord:mail:", repo, &[":", team.key()])
}

/// hash: sequence -> message, JSON; `SEQUENCE refs` -> the number of inboxes that still have it, its bytes, and the login for which they
/// count; `SEQUENCE left` -> recipients that left and have not read it.
pub fn bodies(repo: &RepoId, team: &TeamName) -> String {
    of("coord:mail:", repo, &[":", team.key(), ":bodies"])
}

//! Teams and their members. Keys have the name of a team in lower case: names that differ only in case are the same team.

use coord_domain::RepoId;
use coord_domain::team::TeamName;
use coord_state::keys::of;

/// Prefix of the keys from [`seen`].
pub(crate) const SEEN: &str = "coord:seen:";

/// hash: team -> its entry in a listing, JSON; `TEAM/open` and `TEAM/done` -> number of such tasks; `/bytes` and
/// `/bytes LOGIN` -> bytes of tasks, `/mail` and `/mail LOGIN` of messages (`modules/bytes.lua`).
pub fn teams(repo: &RepoId) -> String {
    of("coord:teams:", repo, &[])
}

/// hash: `@LOGIN AGENT` -> team and handle of that agent, JSON; `TEAM/HANDLE` -> counts of an inbox (`modules/marks.lua`);
/// `TEAM/*` -> number of broadcasts; `TEAM/!` -> the open shutdown.
pub fn members(repo: &RepoId) -> String {
    of("coord:members:", repo, &[])
}

/// hash: `team` -> configuration; `=HANDLE` -> member; `@LOGIN AGENT` -> handle of that agent; `shutdown`; counters, among them
/// `bytes LOGIN` and `mail LOGIN`.
pub fn team(repo: &RepoId, team: &TeamName) -> String {
    of("coord:team:", repo, &[":", team.key()])
}

/// hash: handle -> when the member was last seen, Unix milliseconds. [`coord_state::is_expendable`].
pub fn seen(repo: &RepoId, team: &TeamName) -> String {
    of(SEEN, repo, &[":", team.key()])
}

/// hash: `TEAM AGENT KEY` of a request -> its outcome, for ten minutes; JSON. `person` is the SHA-1 of a login.
pub fn answers(repo: &RepoId, person: &str) -> String {
    of("coord:answers:", repo, &[":", person])
}

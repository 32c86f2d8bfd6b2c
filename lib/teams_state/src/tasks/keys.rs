//! Tasks of a team.

use coord_domain::RepoId;
use coord_domain::team::TeamName;
use coord_state::expiry;
use coord_state::keys::of;
use coord_state::request_keys::NamedKey;

/// zset: team in lower case -> a lower bound of the earliest expiry of a claim in it (Unix seconds).
pub fn lapses(repo: &RepoId) -> String {
    expiry::keys::index(repo, "tasks")
}

/// KEYS of tasks in a sweep, by `modules/lapses.lua`.
pub(crate) fn sweep_keys(repo: &RepoId) -> Vec<NamedKey> {
    vec![("lapses", lapses(repo))]
}

fn part(repo: &RepoId, team: &TeamName, part: &str) -> String {
    of("coord:tasks:", repo, &[":", team.key(), part])
}

/// hash: id -> task without its texts, JSON; see `modules/task.lua`.
pub fn tasks(repo: &RepoId, team: &TeamName) -> String {
    part(repo, team, "")
}

/// hash: id -> description; `ID notes` -> its notes, JSON, one on each line; `ID result` -> its result.
pub fn texts(repo: &RepoId, team: &TeamName) -> String {
    part(repo, team, ":texts")
}

/// zset: id -> number, in the order of creation.
pub fn order(repo: &RepoId, team: &TeamName) -> String {
    part(repo, team, ":order")
}

/// zset: id of a completed task -> when it was completed, Unix milliseconds.
pub fn done(repo: &RepoId, team: &TeamName) -> String {
    part(repo, team, ":done")
}

/// zset of score 0: for a task A that depends on B: `d A B`, and `b B A` as long as A is open, `c B A` after it is completed; `d A !` and
/// `b A !` for a completed task A; `h A` for a task that is held back because its claims have expired too often; `i a` for a task A
/// whose id has capitals: `a` is the id in lower case.
pub fn edges(repo: &RepoId, team: &TeamName) -> String {
    part(repo, team, ":edges")
}

/// hash: id -> number of its dependencies that are not completed; absent for none.
pub fn unmet(repo: &RepoId, team: &TeamName) -> String {
    part(repo, team, ":unmet")
}

/// zset: id of a task that may be claimed -> its position in the queue, by priority and age.
pub fn ready(repo: &RepoId, team: &TeamName) -> String {
    part(repo, team, ":ready")
}

/// zset: id of a claimed task -> when its claim expires, Unix milliseconds.
pub fn leases(repo: &RepoId, team: &TeamName) -> String {
    part(repo, team, ":leases")
}

//! Every key that Coord uses is built here. `{repo}` is a Redis Cluster hash tag: all keys of one repository live in one
//! slot. A [`RepoId`] holds no brace and no colon, and a [`Branch`] no colon, so that neither can name another's key.

use crate::domain::{Branch, RepoId};

/// `KIND{repo}REST`. A dozen keys go with every request, and `format!` takes ten times as long for one.
fn of(kind: &str, repo: &RepoId, rest: &[&str]) -> String {
    let mut key =
        String::with_capacity(kind.len() + repo.as_str().len() + 2 + rest.iter().map(|part| part.len()).sum::<usize>());
    for part in [kind, "{", repo.as_str(), "}"].iter().chain(rest) {
        key.push_str(part);
    }
    key
}

/// zset: repository -> a lower bound of its earliest lock expiry (Unix seconds). What the sweep looks at.
/// While a sweep looks at a repository it is the member `sweeping:REPO`, scored with when that sweep's turn ends; one that is
/// looked at a last time before it is forgotten is `idle:REPO`.
pub const DUE: &str = "coord:due";

/// hash: repository -> name of the claim that has put it into [`DUE`] and that nobody else has relied on; a minute. In the slot
/// of that, and expendable: without it a mark stays until the sweep has looked.
pub const DUE_CLAIMS: &str = "coord:limit:{coord:due}";

/// string: when somebody last looked whether the store can be written.
pub const PROBE: &str = "coord:probe";

/// hash: file path -> JSON array of lock entries, all branches.
pub fn locks(repo: &RepoId) -> String {
    of("coord:locks:", repo, &[])
}

/// zset: file path -> earliest expiry (Unix seconds) of the entries under it in [`locks`]; exact.
pub fn expiries(repo: &RepoId) -> String {
    of("coord:expiries:", repo, &[])
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

/// hash: version (commit), counts, times, state of the build.
pub fn graph(repo: &RepoId, branch: &Branch) -> String {
    of("coord:graph:", repo, &[":", branch.as_str()])
}

/// hash: file path -> its imports and importers.
pub fn graph_adjacency(repo: &RepoId, branch: &Branch) -> String {
    of("coord:graph:", repo, &[":", branch.as_str(), ":adj"])
}

/// string: nodes and edges, ready to send.
pub fn graph_json(repo: &RepoId, branch: &Branch) -> String {
    of("coord:graph:", repo, &[":", branch.as_str(), ":json"])
}

/// hash: file path -> blob id and raw specifiers, for incremental builds.
pub fn graph_scan(repo: &RepoId, branch: &Branch) -> String {
    of("coord:graph:", repo, &[":", branch.as_str(), ":scan"])
}

/// hash: newest known commit, when and how it was learnt, recent commits, ETag, when it was last looked at, and when it may be
/// asked for again.
pub fn head(repo: &RepoId, branch: &Branch) -> String {
    of("coord:head:", repo, &[":", branch.as_str()])
}

/// string: who has the credential named by `credential`, and what it may do in the repository; JSON, kept for a day. Verified
/// credentials alone have one.
pub fn identity(repo: &RepoId, credential: &str) -> String {
    of("coord:identity:", repo, &[":", credential])
}

/// string: how much of its rate limits a person (SHA-1 of the login) or the repository (`all`) has used, as theoretical
/// arrival times in Unix milliseconds; see `includes/limits.lua`. [`is_expendable`].
pub fn limit(repo: &RepoId, whose: &str) -> String {
    of(LIMITS, repo, &[":", whose])
}

/// string: the repository is on the list of what is due, with this expiry (Unix seconds) or an earlier one; see `mark_due.lua`.
pub fn marked(repo: &RepoId) -> String {
    of("coord:marked:", repo, &[])
}

const LIMITS: &str = "coord:limit:";

/// hash: digest of a refused request -> when its refusal was logged, and how often it was refused since. [`is_expendable`].
pub fn refusals(repo: &RepoId) -> String {
    of(REFUSALS, repo, &[])
}

const REFUSALS: &str = "coord:refusals:";

/// Whether nobody has to wait until a change of `key` is on the disk: what it holds may be lost in a crash.
pub fn is_expendable(key: &[u8]) -> bool {
    [LIMITS, REFUSALS]
        .iter()
        .any(|prefix| key.starts_with(prefix.as_bytes()))
}

/// string: when a webhook last told of a push to the repository, Unix seconds; while it is there, heads are not asked for.
pub fn webhook(repo: &RepoId) -> String {
    of("coord:webhook:", repo, &[])
}

/// stream: every event, bounded; its id is the resume cursor.
pub fn status_log(repo: &RepoId) -> String {
    of("coord:status_log:", repo, &[])
}

/// channel: the same events, pushed.
pub fn events(repo: &RepoId) -> String {
    of("coord:events:", repo, &[])
}

/// The key under which something is written before it takes the place of `key` whole.
pub fn staging(key: &str) -> String {
    format!("{key}:next")
}

//! Builds a key of one repository; each aggregate has its own keys beside its scripts. `{repo}` is a Redis Cluster hash tag:
//! all keys of one repository are in one slot. A [`RepoId`] contains no brace and no colon, and a branch no colon, so
//! neither can produce the key of another repository.

use coord_domain::RepoId;

/// `KIND{repo}REST`. Every request uses a dozen keys, and `format!` takes ten times as long for one.
pub fn of(kind: &str, repo: &RepoId, rest: &[&str]) -> String {
    let mut key =
        String::with_capacity(kind.len() + repo.as_str().len() + 2 + rest.iter().map(|part| part.len()).sum::<usize>());
    for part in [kind, "{", repo.as_str(), "}"].iter().chain(rest) {
        key.push_str(part);
    }
    key
}

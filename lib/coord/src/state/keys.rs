//! How a key of one repository is made; each aggregate has its own keys beside its scripts. `{repo}` is a Redis Cluster hash
//! tag: all keys of one repository live in one slot. A [`RepoId`] holds no brace and no colon, and a branch no colon, so that
//! neither can name another's key.

use crate::domain::RepoId;

/// `KIND{repo}REST`. A dozen keys go with every request, and `format!` takes ten times as long for one.
pub(super) fn of(kind: &str, repo: &RepoId, rest: &[&str]) -> String {
    let mut key =
        String::with_capacity(kind.len() + repo.as_str().len() + 2 + rest.iter().map(|part| part.len()).sum::<usize>());
    for part in [kind, "{", repo.as_str(), "}"].iter().chain(rest) {
        key.push_str(part);
    }
    key
}

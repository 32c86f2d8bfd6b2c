//! The locks of a repository in the store, without expired ones.

use crate::domain::{LockEntry, RepoId};
use crate::state;
use crate::store::{Request, StoreError, Value};

/// The store requests whose replies `read` takes.
pub(super) fn requests(repo: &RepoId) -> [Request; 2] {
    [
        Request::command(["HGETALL", &state::locks::keys::locks(repo)]),
        Request::command(["TIME"]),
    ]
}

/// The locks that `is_wanted` selects from the replies, and the store's clock in Unix seconds.
pub(super) fn read(
    locks: &Value,
    time: &Value,
    is_wanted: impl Fn(&LockEntry) -> bool,
) -> Result<(Vec<LockEntry>, i64), StoreError> {
    let malformed = || StoreError::Malformed("the locks of a repository".to_owned());
    for reply in [locks, time] {
        if let Value::Error(error) = reply {
            return Err(StoreError::Failed(error.clone()));
        }
    }
    let clock = |index: usize| time.as_array().and_then(|time| time.get(index)?.as_int());
    let (now, micros) = clock(0).zip(clock(1)).ok_or_else(malformed)?;
    let now_ms = now.saturating_mul(1000).saturating_add(micros / 1000);
    let mut live: Vec<LockEntry> = Vec::new();
    for value in locks.as_array().ok_or_else(malformed)?.iter().skip(1).step_by(2) {
        let Value::Bulk(json) = value else {
            return Err(malformed());
        };
        let entries: Vec<LockEntry> =
            serde_json::from_slice(json).map_err(|error| StoreError::Malformed(error.to_string()))?;
        live.extend(
            entries
                .into_iter()
                .filter(|entry| !entry.has_expired(now_ms) && is_wanted(entry)),
        );
    }
    Ok((live, now))
}

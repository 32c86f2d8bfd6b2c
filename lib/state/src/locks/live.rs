//! The locks of a repository, without expired ones.

use super::keys;
use crate::clock::seconds_and_micros;
use crate::read::{Read, parse_json};
use coord_domain::{LockEntry, RepoId};
use coord_store::{Request, StoreError, Value};

/// Locks that have not expired, and when they were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveLocks {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// The locks, in no order.
    pub entries: Vec<LockEntry>,
}

/// Reads the live locks of `repo`, on all branches.
pub fn live_locks(repo: &RepoId) -> Read<LiveLocks> {
    let requests = [
        Request::command(["HGETALL", &keys::locks(repo)]),
        Request::command(["TIME"]),
    ];
    Read::new(requests, |[locks, time]| decode(&locks, &time))
}

fn decode(locks: &Value, time: &Value) -> Result<LiveLocks, StoreError> {
    let malformed = || StoreError::Malformed("the locks of a repository".to_owned());
    let (now, micros) = seconds_and_micros(time).ok_or_else(malformed)?;
    let now_ms = now.saturating_mul(1000).saturating_add(micros / 1000);
    let mut live: Vec<LockEntry> = Vec::new();
    for [_, value] in locks.as_pairs().ok_or_else(malformed)? {
        let Value::Bulk(json) = value else {
            return Err(malformed());
        };
        let entries: Vec<LockEntry> = parse_json(json)?;
        live.extend(entries.into_iter().filter(|entry| !entry.has_expired(now_ms)));
    }
    Ok(LiveLocks { now, entries: live })
}

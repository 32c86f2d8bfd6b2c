//! Claims that wait for their files: the tickets of `modules/queue.lua`.

use coord_protocol::InterfacePromise;
use serde::Deserialize;

use super::keys;
use crate::read::{Read, parse_json};
use coord_domain::{LockEntry, LockMode, RepoId};
use coord_store::{Request, Value};

/// Milliseconds for which a ticket is kept after its claim was last repeated: as in `modules/queue_order.lua`.
const KEPT_MS: i64 = 30_000;

/// A claim that others' locks blocked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Ticket {
    /// Verified login.
    pub user_id: String,
    /// Name to show.
    pub user_name: String,
    pub agent_id: Option<String>,
    pub branch: String,
    /// The mode of the claim.
    pub status: LockMode,
    pub message: String,
    /// Its files, without shared ones.
    pub files: Vec<String>,
    /// Neighbors of these that blocked it.
    #[serde(default)]
    pub near: Vec<String>,
    /// Whether it keeps the interfaces of its files.
    #[serde(default)]
    pub keeps: bool,
    /// The first refusal, Unix milliseconds.
    pub since: i64,
    /// The last refusal, Unix milliseconds.
    asked: i64,
    /// Until when the server repeats the claim, Unix milliseconds.
    held: Option<i64>,
    /// The end of its reservation, Unix milliseconds.
    pub reserved: Option<i64>,
}

impl Ticket {
    /// The last millisecond of the ticket, unless its claim is repeated.
    pub fn end_ms(&self) -> i64 {
        self.reserved.unwrap_or(self.held.unwrap_or(self.asked) + KEPT_MS)
    }

    /// Whether the ticket waits for the lock, which is on one of its files or, if `is_near`, on a neighbor.
    pub fn waits_for(&self, entry: &LockEntry, is_near: bool) -> bool {
        let is_own = entry.user_id == self.user_id && entry.agent_id == self.agent_id;
        let (wants_writing, is_writing) = (self.status == LockMode::Writing, entry.status == LockMode::Writing);
        let both_keep = self.keeps && entry.interface == Some(InterfacePromise::Keeps);
        let blocks = match is_near {
            true => wants_writing && is_writing && !both_keep,
            false => (wants_writing || is_writing) && !entry.shared,
        };
        entry.branch == self.branch && !is_own && blocks
    }
}

/// Reads the tickets of `repo`, on all branches, the oldest first, with ended ones.
pub fn waiting_claims(repo: &RepoId) -> Read<Vec<Ticket>> {
    Read::new(
        [Request::command(["GET", &keys::queue(repo)])],
        |[tickets]| match &tickets {
            Value::Bulk(json) => parse_json(json),
            _ => Ok(Vec::new()),
        },
    )
}

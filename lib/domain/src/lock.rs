use coord_protocol::{InterfacePromise, LockMode};
use serde::{Deserialize, Serialize};

/// The effect of a neighbor that is locked for writing on a claim to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NeighborPolicy {
    /// It refuses the claim.
    Block,
    /// It refuses the claim if one of the two writers changes the interface of its file.
    #[default]
    Interface,
    Warn,
    /// It is not reported.
    Off,
}

impl NeighborPolicy {
    pub const ALL: [NeighborPolicy; 4] = [
        NeighborPolicy::Block,
        NeighborPolicy::Interface,
        NeighborPolicy::Warn,
        NeighborPolicy::Off,
    ];

    /// The spelling in scripts, settings and policies.
    pub fn as_str(self) -> &'static str {
        match self {
            NeighborPolicy::Block => "block",
            NeighborPolicy::Interface => "interface",
            NeighborPolicy::Warn => "warn",
            NeighborPolicy::Off => "off",
        }
    }

    /// The policy with that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == text)
    }
}

/// A lock as stored under its file in `coord:locks:{repo}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LockEntry {
    /// `repo:branch:file_path`.
    pub key: String,
    pub file_path: String,
    pub branch: String,
    /// The branch that the holder commits to, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_branch: Option<String>,
    /// For a pending change: the number of its pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<u64>,
    /// Verified login of the holder.
    pub user_id: String,
    /// Display name of the holder.
    pub user_name: String,
    /// The agent of the holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The intent that the lock is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// Team, in lower case, and id of the task with which it was claimed: `TEAM/ID`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Whether several holders could write the file when it was granted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// `keeps` if the writer promised to keep the interface of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfacePromise>,
    /// For a pending change: how its interface differs from the branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface_differs: Option<String>,
    /// Pending notices for its holder: interfaces of neighbors that changed despite a promise to keep them; see
    /// `modules/notices.lua`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notices: Option<String>,
    /// READING or WRITING.
    pub status: LockMode,
    /// The commit of the holder's working copy at the first grant; for a writer, the head of the branch, in full.
    pub agent_head: String,
    pub message: String,
    /// Time of the grant or of the last renewal, Unix seconds.
    pub timestamp: i64,
    /// End of the lock, Unix seconds, rounded down: [`Self::timestamp`] plus the lock's lifetime.
    pub expiry: i64,
    /// The last millisecond of the lock, Unix milliseconds. If absent, it is the first millisecond of [`Self::expiry`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry_ms: Option<i64>,
    /// Time of the first grant, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_at: Option<i64>,
    /// Fencing token: increases with every grant in the repository.
    pub token: i64,
}

impl LockEntry {
    /// Time of the first grant, Unix seconds; of the last renewal if an earlier version stored the lock.
    pub fn held_since(&self) -> i64 {
        self.granted_at.unwrap_or(self.timestamp)
    }

    /// The second at which the file is free, Unix time, rounded up: never before the lock has expired.
    pub fn free_from(&self) -> i64 {
        self.expiry_ms.map_or(self.expiry, |last| {
            last.div_euclid(1000) + i64::from(last.rem_euclid(1000) > 0)
        })
    }

    /// Whether it has expired at `now_ms`, Unix milliseconds: the rule of `modules/entries.lua`.
    pub fn has_expired(&self, now_ms: i64) -> bool {
        self.expiry_ms.unwrap_or(self.expiry.saturating_mul(1000)) < now_ms
    }
}

use coord_protocol::LockMode;
use serde::{Deserialize, Serialize};

/// What a written neighbor means for a claim to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NeighborPolicy {
    /// It refuses the claim: the documented rule.
    #[default]
    Block,
    /// It is a warning.
    Warn,
}

impl NeighborPolicy {
    /// As the scripts spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            NeighborPolicy::Block => "block",
            NeighborPolicy::Warn => "warn",
        }
    }
}

/// A lock as it is stored under its file in `coord:locks:{repo}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct LockEntry {
    /// `repo:branch:file_path`.
    pub key: String,
    /// The file.
    pub file_path: String,
    /// The branch it is held on.
    pub branch: String,
    /// Verified login of the holder.
    pub user_id: String,
    /// Name to show.
    pub user_name: String,
    /// Which agent of that person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// READING or WRITING.
    pub status: LockMode,
    /// The head that the holder's working copy had when the lock was first granted; of a writer that of the branch, whole.
    pub agent_head: String,
    /// What the holder says.
    pub message: String,
    /// When it was granted or last renewed, Unix seconds.
    pub timestamp: i64,
    /// From when on it is free, Unix seconds, rounded up: never before [`Self::expiry_ms`].
    pub expiry: i64,
    /// The last millisecond through which it lives, Unix milliseconds. An entry without it ends with its second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry_ms: Option<i64>,
    /// When it was first granted, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_at: Option<i64>,
    /// Fencing token: grows with every grant in the repository.
    pub token: i64,
}

impl LockEntry {
    /// Whether its time has passed at `now_ms`, Unix milliseconds: the rule of `includes/entries.lua`.
    pub fn has_expired(&self, now_ms: i64) -> bool {
        self.expiry_ms.unwrap_or(self.expiry.saturating_mul(1000)) < now_ms
    }
}

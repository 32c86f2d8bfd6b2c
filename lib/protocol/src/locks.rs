//! Locks as callers see them, and `GET /api/locks`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schema::{self, AgentId, Branch, CommitId, CommitSha, FilePath, IntentId};

/// The request to `post_status`: a claim or a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum LockStatus {
    /// A shared claim.
    Reading,
    /// An exclusive claim.
    Writing,
    /// A release.
    Open,
}

/// The lock mode: how a file is wanted or held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum LockMode {
    /// Shared.
    Reading,
    /// Exclusive.
    Writing,
}

impl LockMode {
    /// The spelling on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            LockMode::Reading => "READING",
            LockMode::Writing => "WRITING",
        }
    }
}

/// A writer's promise about the interface of a file: the part that others can import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum InterfacePromise {
    /// It stays as it is.
    Keeps,
    /// It may change.
    Changes,
}

impl InterfacePromise {
    /// The spelling on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            InterfacePromise::Keeps => "keeps",
            InterfacePromise::Changes => "changes",
        }
    }
}

/// How another holder's lock concerns a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LockType {
    /// The lock is on a file of the request.
    Direct,
    /// The lock is on a file that imports a file of the request, or is imported by one.
    Neighbor,
    /// No lock: the file is reserved for a claim that was refused before.
    Reserved,
    /// No lock: another claim waits for the file, and does not block.
    Waiting,
}

/// A lock of another holder, under its file in `locks`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = LockView)]
pub struct OtherLock {
    /// Verified login of the holder.
    pub user: String,
    /// The holder's name to show; the login where none is known.
    pub user_name: String,
    /// The mode of the lock; with RESERVED and WAITING, of the claim that waits.
    pub status: LockMode,
    /// DIRECT, NEIGHBOR, RESERVED or WAITING; absent in a graph, which has no files of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schema::lock_type, required = false)]
    pub lock_type: Option<LockType>,
    /// With NEIGHBOR: the file of the request that it imports, or that imports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = FilePath, required = false)]
    pub neighbor_of: Option<String>,
    /// `keeps` where the holder keeps the interface of the file, so that its neighbors are not blocked; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub interface: Option<InterfacePromise>,
    /// Whether several may write the file at once: then the lock is no conflict. Absent where it is not so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The holder's description of its work, and the reason.
    #[schema(min_length = 1, max_length = 500)]
    pub message: String,
    /// When it was first granted, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub since: Option<i64>,
    /// When it was last granted or renewed, Unix seconds.
    #[schema(minimum = 0)]
    pub timestamp: i64,
    /// When it expires unless it is renewed, Unix seconds. With RESERVED and WAITING: when the reservation ends, or the last lock
    /// that the claim waits for.
    #[schema(minimum = 0)]
    pub expiry: i64,
    /// The agent of the holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AgentId, required = false)]
    pub agent_id: Option<String>,
    /// The intent that the lock is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = IntentId, required = false)]
    pub intent_id: Option<String>,
    /// All readers, or all holders of a shared file, if there are several; the lock itself shows the earliest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(min_items = 2)]
    pub readers: Vec<Reader>,
}

/// One of several readers of a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct Reader {
    /// Verified login.
    pub user: String,
    /// Name to show; the login where none is known.
    pub user_name: String,
    /// The mode of its lock on a shared file, where it is WRITING.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<LockMode>,
    /// The agent of the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AgentId, required = false)]
    pub agent_id: Option<String>,
    /// The reader's description of its work, and the reason.
    #[schema(min_length = 1, max_length = 500)]
    pub message: String,
    /// When it was first granted, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub since: Option<i64>,
    /// When it was last granted or renewed, Unix seconds.
    #[schema(minimum = 0)]
    pub timestamp: i64,
    /// When it expires unless it is renewed, Unix seconds.
    #[schema(minimum = 0)]
    pub expiry: i64,
}

/// A lock of the caller's own, under its file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = OwnLockView)]
pub struct OwnLock {
    /// The mode of the lock.
    pub status: LockMode,
    /// The caller's reason for the lock.
    #[schema(min_length = 1, max_length = 500)]
    pub message: String,
    /// When it was first granted, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub since: Option<i64>,
    /// When it was last granted or renewed, Unix seconds.
    #[schema(minimum = 0)]
    pub timestamp: i64,
    /// When it expires unless it is renewed, Unix seconds.
    #[schema(minimum = 0)]
    pub expiry: i64,
    /// Fencing token: grows with every grant in the repository.
    #[schema(minimum = 1)]
    pub token: i64,
    /// `keeps` where the caller keeps the interface of the file; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub interface: Option<InterfacePromise>,
    /// The intent that the lock is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = IntentId, required = false)]
    pub intent_id: Option<String>,
    /// The agent whose lock it was until this claim, which has taken it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AgentId, required = false)]
    pub taken_from: Option<String>,
}

/// The locks of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = Locks)]
pub struct LocksResponse {
    /// Sorted by branch, file and time. A file with several readers has several entries.
    pub locks: Vec<HeldLock>,
    /// Number of locks that are left out, if there are very many; never with `holder=me`.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(minimum = 1)]
    pub locks_omitted: u64,
    /// Changes that are on work branches and not on the branch that they are for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<PendingChange>,
    /// Claims that were refused for others' locks and are still made, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingClaim>,
}

/// A claim that waits for its files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct WaitingClaim {
    /// The files.
    #[schema(value_type = Vec<FilePath>)]
    pub file_paths: Vec<String>,
    /// The branch.
    #[schema(value_type = Branch)]
    pub branch: String,
    /// Verified login of the one who waits.
    pub user: String,
    /// The name to show; the login where none is known.
    pub user_name: String,
    /// The agent that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AgentId, required = false)]
    pub agent_id: Option<String>,
    /// The mode of the claim.
    pub status: LockMode,
    /// Its purpose.
    #[schema(min_length = 1, max_length = 500)]
    pub message: String,
    /// When it was first refused, Unix seconds.
    #[schema(minimum = 0)]
    pub since: i64,
    /// When the reservation of its files ends, Unix seconds; absent while it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub reserved_until: Option<i64>,
    /// Locks that it waits for; eight at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<BlockingLock>,
}

/// A lock that a claim waits for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct BlockingLock {
    /// The file: one of the claim, or a neighbor.
    #[schema(value_type = FilePath)]
    pub file_path: String,
    /// Verified login of its holder.
    pub user: String,
    /// The agent that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AgentId, required = false)]
    pub agent_id: Option<String>,
}

/// A change of a file that is pushed to a work branch, and is not on the branch that it is for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct PendingChange {
    /// The file.
    #[schema(value_type = FilePath)]
    pub file_path: String,
    /// The branch that the change is for.
    #[schema(value_type = Branch)]
    pub branch: String,
    /// The branch that has it.
    #[schema(value_type = Branch)]
    pub work_branch: String,
    /// Verified login of its author.
    pub user: String,
    /// The author's name to show; the login where none is known.
    pub user_name: String,
    /// The agent of the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AgentId, required = false)]
    pub agent_id: Option<String>,
    /// The pushed commit.
    #[schema(value_type = CommitSha)]
    pub head: String,
    /// The author's description of the work.
    #[schema(min_length = 1, max_length = 500)]
    pub message: String,
    /// When the file was released, Unix seconds.
    #[schema(minimum = 0)]
    pub since: i64,
    /// Number of its pull request, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, nullable = false)]
    pub pull_request: Option<u64>,
}

/// A lock.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct HeldLock {
    /// The file.
    #[schema(value_type = FilePath)]
    pub file_path: String,
    /// The branch that it is held on.
    #[schema(value_type = Branch)]
    pub branch: String,
    /// The branch that the holder commits to, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Branch, required = false)]
    pub work_branch: Option<String>,
    /// Verified login of the holder.
    pub user: String,
    /// The holder's name to show; the login where none is known.
    pub user_name: String,
    /// The agent of the holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AgentId, required = false)]
    pub agent_id: Option<String>,
    /// The intent that the lock is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = IntentId, required = false)]
    pub intent_id: Option<String>,
    /// The mode of the lock.
    pub status: LockMode,
    /// `keeps` where the holder keeps the interface of the file; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub interface: Option<InterfacePromise>,
    /// Whether several may write the file at once. Absent where it is not so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
    /// The commit of the holder's working copy when it was first granted; for a writer, the head of the branch, in full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = CommitId, required = true)]
    pub agent_head: Option<String>,
    /// The holder's description of its work, and the reason.
    #[schema(min_length = 1, max_length = 500)]
    pub message: String,
    /// When it was first granted, Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, nullable = false)]
    pub since: Option<i64>,
    /// When it was last granted or renewed, Unix seconds.
    #[schema(minimum = 0)]
    pub timestamp: i64,
    /// When it expires unless it is renewed, Unix seconds.
    #[schema(minimum = 0)]
    pub expiry: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

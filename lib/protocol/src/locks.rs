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

/// The mode of a lock or a claim.
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

/// How another holder's lock affects a request.
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

wire! {
    /// A lock of another holder, under its file in `locks`.
    #[schema(as = LockView)]
    pub struct OtherLock {
        /// Verified login of the holder.
        pub user: String,
        /// The holder's display name; the login if none is known.
        pub user_name: String,
        /// The mode of the lock; with RESERVED and WAITING, of the claim that waits.
        pub status: LockMode,
        /// DIRECT, NEIGHBOR, RESERVED or WAITING; absent in a graph, which has no files of a request.
        #[serde(default)]
        #[schema(schema_with = schema::lock_type, required = false)]
        pub lock_type: Option<LockType>,
        /// With NEIGHBOR: the file of the request that it imports, or that imports it.
        pub neighbor_of: maybe FilePath as String,
        /// `keeps` where the holder keeps the interface of the file, so that its neighbors are not blocked; absent otherwise.
        pub interface: maybe InterfacePromise,
        /// Whether several may write the file at once: then the lock is no conflict. Absent if not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub shared: bool,
        /// The holder's description of its work, and the reason.
        #[schema(min_length = 1, max_length = 500)]
        pub message: String,
        /// When it was first granted, Unix seconds.
        #[schema(minimum = 0)]
        pub since: maybe i64,
        /// When it was last granted or renewed, Unix seconds.
        #[schema(minimum = 0)]
        pub timestamp: i64,
        /// When it expires unless it is renewed, Unix seconds. With RESERVED and WAITING: when the reservation ends, or the last lock
        /// that the claim waits for.
        #[schema(minimum = 0)]
        pub expiry: i64,
        /// The agent of the holder.
        pub agent_id: maybe AgentId as String,
        /// The intent that the lock is for.
        pub intent_id: maybe IntentId as String,
        /// All readers, or all holders of a shared file, if there are several; the lock itself shows the earliest.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(min_items = 2)]
        pub readers: Vec<Reader>,
    }

    /// One of several readers of a file.
    pub struct Reader {
        /// Verified login.
        pub user: String,
        /// Display name; the login if none is known.
        pub user_name: String,
        /// The mode of its lock on a shared file, where it is WRITING.
        pub status: maybe LockMode,
        /// The agent of the reader.
        pub agent_id: maybe AgentId as String,
        /// The reader's description of its work, and the reason.
        #[schema(min_length = 1, max_length = 500)]
        pub message: String,
        /// When it was first granted, Unix seconds.
        #[schema(minimum = 0)]
        pub since: maybe i64,
        /// When it was last granted or renewed, Unix seconds.
        #[schema(minimum = 0)]
        pub timestamp: i64,
        /// When it expires unless it is renewed, Unix seconds.
        #[schema(minimum = 0)]
        pub expiry: i64,
    }

    /// A lock of the caller, under its file.
    #[schema(as = OwnLockView)]
    pub struct OwnLock {
        /// The mode of the lock.
        pub status: LockMode,
        /// The caller's reason for the lock.
        #[schema(min_length = 1, max_length = 500)]
        pub message: String,
        /// When it was first granted, Unix seconds.
        #[schema(minimum = 0)]
        pub since: maybe i64,
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
        pub interface: maybe InterfacePromise,
        /// The intent that the lock is for.
        pub intent_id: maybe IntentId as String,
        /// The agent that held the lock until this claim took it over.
        pub taken_from: maybe AgentId as String,
    }
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
    /// Claims that others' locks refused and that their callers still repeat, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingClaim>,
}

wire! {
    /// A claim that waits for its files.
    pub struct WaitingClaim {
        /// The files.
        #[schema(value_type = Vec<FilePath>)]
        pub file_paths: Vec<String>,
        /// The branch.
        #[schema(value_type = Branch)]
        pub branch: String,
        /// Verified login of the waiting caller.
        pub user: String,
        /// The display name; the login if none is known.
        pub user_name: String,
        /// The agent that waits.
        pub agent_id: maybe AgentId as String,
        /// The mode of the claim.
        pub status: LockMode,
        /// Its purpose.
        #[schema(min_length = 1, max_length = 500)]
        pub message: String,
        /// When it was first refused, Unix seconds.
        #[schema(minimum = 0)]
        pub since: i64,
        /// When the reservation of its files ends, Unix seconds; absent while it has none.
        #[schema(minimum = 0)]
        pub reserved_until: maybe i64,
        /// Locks that it waits for; eight at most.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub waits_for: Vec<BlockingLock>,
    }

    /// A lock that a claim waits for.
    pub struct BlockingLock {
        /// The file: one of the claim, or a neighbor.
        #[schema(value_type = FilePath)]
        pub file_path: String,
        /// Verified login of its holder.
        pub user: String,
        /// The agent that holds it.
        pub agent_id: maybe AgentId as String,
    }

    /// A change of a file that is pushed to a work branch, and is not on the branch that it is for.
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
        /// The author's display name; the login if none is known.
        pub user_name: String,
        /// The agent of the author.
        pub agent_id: maybe AgentId as String,
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
        #[schema(minimum = 1)]
        pub pull_request: maybe u64,
    }

    /// A lock.
    pub struct HeldLock {
        /// The file.
        #[schema(value_type = FilePath)]
        pub file_path: String,
        /// The branch that it is held on.
        #[schema(value_type = Branch)]
        pub branch: String,
        /// The branch that the holder commits to, if it is not `branch`.
        pub work_branch: maybe Branch as String,
        /// Verified login of the holder.
        pub user: String,
        /// The holder's display name; the login if none is known.
        pub user_name: String,
        /// The agent of the holder.
        pub agent_id: maybe AgentId as String,
        /// The intent that the lock is for.
        pub intent_id: maybe IntentId as String,
        /// The mode of the lock.
        pub status: LockMode,
        /// `keeps` where the holder keeps the interface of the file; absent otherwise.
        pub interface: maybe InterfacePromise,
        /// Whether several may write the file at once. Absent if not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub shared: bool,
        /// The commit of the holder's working copy when it was first granted; for a writer, the head of the branch, in full.
        #[serde(default)]
        pub agent_head: required CommitId as String,
        /// The holder's description of its work, and the reason.
        #[schema(min_length = 1, max_length = 500)]
        pub message: String,
        /// When it was first granted, Unix seconds.
        #[schema(minimum = 0)]
        pub since: maybe i64,
        /// When it was last granted or renewed, Unix seconds.
        #[schema(minimum = 0)]
        pub timestamp: i64,
        /// When it expires unless it is renewed, Unix seconds.
        #[schema(minimum = 0)]
        pub expiry: i64,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

//! Responses.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{TaskPriority, TaskStatus};
use crate::locks::OwnLock;
use crate::orchestration::Orchestration;
use crate::schema::{AgentId, Branch, FilePath, Handle};
use crate::waiting::Waiting;

/// The state of the claim of a task, by the store's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeaseState {
    /// It was never claimed, or is completed.
    None,
    /// Its owner has it.
    Held,
    /// Its time passed: it may be claimed.
    Lapsed,
    /// It was released, and may be claimed.
    Released,
}

wire! {
    /// The claim of a task.
    #[schema(as = TaskLease)]
    pub struct Lease {
        /// Its state.
        pub state: LeaseState,
        /// When it expires unless it is renewed, ISO 8601.
        pub expires: maybe String,
        /// Fencing token of the newest claim, until the task is completed: a reader uses it to find which events it knows.
        #[schema(minimum = 1)]
        pub token: maybe i64,
    }

    /// A note on a task.
    #[schema(as = TaskNote)]
    pub struct Note {
        /// Handle of the author; absent for one of Coord itself.
        pub by: maybe String,
        /// Verified login of the author.
        pub login: maybe String,
        /// When, ISO 8601.
        pub time: String,
        /// The text.
        pub text: String,
    }

    /// A task. A list has no notes and results, and descriptions only where they are asked for.
    #[serde(rename_all = "camelCase")]
    #[schema(as = Task)]
    pub struct TaskView {
        /// Its id.
        pub id: String,
        /// Its title.
        pub title: String,
        /// Work to do.
        pub description: maybe String,
        /// Its priority.
        pub priority: TaskPriority,
        /// Its status.
        pub status: TaskStatus,
        /// When it was added, ISO 8601.
        pub created_at: String,
        /// When it was changed, ISO 8601.
        pub updated_at: maybe String,
        /// Handle of its owner, or of the member that completed it.
        pub owner: maybe String,
        /// Verified login of that.
        pub owner_login: maybe String,
        /// When it was last claimed, ISO 8601.
        pub claimed_at: maybe String,
        /// When it was completed, ISO 8601.
        pub completed_at: maybe String,
        /// Its dependencies that are not completed.
        pub dependencies: Vec<String>,
        /// Tasks that depend on it: the first 1,000.
        pub blocks: Vec<String>,
        /// A warning, while it is in progress in spite of unmet dependencies.
        pub warning: maybe String,
        /// Files that it is about.
        pub files: Vec<String>,
        /// Their branch.
        pub branch: maybe Branch as String,
        /// The branch on which they were claimed with it.
        pub files_claimed_on: maybe Branch as String,
        /// The member that it is assigned to.
        pub assignee: maybe Handle as String,
        /// Until when it is kept for that member, ISO 8601.
        pub reserved_until: maybe String,
        /// Handle of its creator.
        pub created_by: String,
        /// Verified login of its creator.
        pub created_by_login: maybe String,
        /// Its claim.
        pub lease: Lease,
        /// How often its claims have expired; after three times it is held back.
        pub lapses: u32,
        /// The former owner, if there is none now.
        pub previous_owner: maybe String,
        /// Its notes, the oldest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub notes: Vec<Note>,
        /// Its result.
        pub result: maybe String,
        /// Its dependencies that are completed.
        pub met_dependencies: Vec<String>,
        /// Number of tasks that depend on it.
        pub block_count: u64,
        /// Whether it may be claimed.
        pub is_ready: bool,
        /// The intent that it serves.
        #[serde(rename = "intent_id")]
        pub intent_id: maybe String,
    }

    /// A page of tasks.
    #[schema(as = Tasks)]
    pub struct TasksResponse {
        /// The tasks, in the order in which they were added. A page may have none although others follow.
        pub tasks: Vec<TaskView>,
        /// The `after` of the next page; absent at the end.
        pub next: maybe u64,
        /// Pending items for the caller.
        #[serde(flatten)]
        pub waiting: Waiting,
    }
}

/// Tasks that were added.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = TasksAdded)]
pub struct NewTasksResponse {
    /// Their ids, in the order of the request.
    pub ids: Vec<String>,
    /// The tasks as they are now.
    pub tasks: Vec<TaskView>,
    /// Pending items for the caller.
    #[serde(flatten)]
    pub waiting: Waiting,
    /// The next step.
    pub orchestration: Orchestration,
}

wire! {
    /// Result of a dependency.
    pub struct DependencyResult {
        /// The completed task.
        pub id: String,
        /// Handle of the member that completed it.
        pub by: maybe String,
        /// Verified login of the member that completed it.
        pub login: maybe String,
        /// Its result.
        pub result: String,
    }
}

/// Why a ready task was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PassedReason {
    /// It is kept for another member.
    Reserved,
    /// Someone else's lock blocks a file.
    Locked,
    /// Its files are of another branch.
    Branch,
    /// The caller has a task with one of its files.
    FilesClaimed,
    /// Intents do not let the caller write its files.
    Intent,
    /// Its files have too many locks or neighbors to check.
    TooMuch,
}

wire! {
    /// A ready task that was skipped. Absent fields do not apply.
    pub struct PassedTask {
        /// Its id.
        pub id: String,
        /// Why.
        pub reason: PassedReason,
        /// The member that it is kept for, or that has a file.
        pub handle: maybe Handle as String,
        /// Until when it is kept, or the lock lasts unless it is renewed, ISO 8601.
        pub until: maybe String,
        /// Login of the holder of the lock.
        pub user: maybe String,
        /// The agent of that holder.
        pub agent_id: maybe AgentId as String,
        /// The file.
        pub file: maybe FilePath as String,
        /// The branch of its files.
        pub branch: maybe Branch as String,
    }
}

/// A claim that blocks the caller.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct HeldTask {
    /// The task.
    pub id: String,
    /// Handle of its owner.
    pub owner: String,
    /// When the claim expires unless it is renewed, ISO 8601.
    pub expires: String,
}

wire! {
    /// A task, and the effects of the request. Absent fields do not apply.
    #[schema(as = TaskAnswer)]
    pub struct TaskResponse {
        /// The task; absent where none is ready, and after a deletion.
        pub task: maybe TaskView,
        /// The results of its completed dependencies: 128 KiB at most.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub dependency_results: Vec<DependencyResult>,
        /// Dependencies of a claimed task that are not completed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub unmet: Vec<String>,
        /// Warnings, each a code, a colon and a sentence.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub warnings: Vec<String>,
        /// Number of tasks whose dependencies are met now.
        #[serde(default, skip_serializing_if = "crate::locks::is_zero")]
        pub unblocked: u64,
        /// Members that were not notified, because their inboxes are full.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub not_told: Vec<String>,
        /// Ready tasks that were skipped, and why.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub passed_over: Vec<PassedTask>,
        /// The next claims to expire, if no task is ready.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub held: Vec<HeldTask>,
        /// The locks on the files that were claimed with the task, by file path.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub locks: BTreeMap<String, OwnLock>,
        /// Files of the task whose locks stay the caller's: their work is not on the branch, as far as Coord knows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub kept_files: Vec<String>,
        /// Files that import the released ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub orphaned_dependencies: Vec<String>,
        /// Pending items for the caller.
        #[serde(flatten)]
        pub waiting: Waiting,
        /// The next step.
        pub orchestration: Orchestration,
    }
}

//! Requests.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{TaskPriority, TaskStatus};
use crate::locks::InterfacePromise;
use crate::schema::{
    Branch, CommitId, FilePath, HandleOrNone, IntentIdOrNone, LongText, RequestKey, TaskId, TaskTitle,
};
use crate::teams::TeamCaller;

/// A task to be added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct NewTask {
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<TaskTitle>)]
    pub title: Option<String>,
    /// Work to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LongText>)]
    pub description: Option<String>,
    /// The priority; `normal` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
    /// The id of a task that is imported; `t1`, `t2` and so on where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<TaskId>)]
    pub id: Option<String>,
    /// The name by which other tasks of the request name this one.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<TaskId>)]
    pub reference: Option<String>,
    /// Its dependencies: ids, or references of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<TaskId>>, max_items = 256)]
    pub dependencies: Option<Vec<String>>,
    /// Tasks that depend on it: ids, or references of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<TaskId>>, max_items = 256)]
    pub blocks: Option<Vec<String>>,
    /// Files that it is about, and that are claimed with it. At most 64 KiB of paths together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<FilePath>>, max_items = 512)]
    pub files: Option<Vec<String>>,
    /// Their branch; that of the claim where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Branch>)]
    pub branch: Option<String>,
    /// The intent that it serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<crate::schema::IntentId>)]
    pub intent_id: Option<String>,
}

/// Tasks to be added: all, or none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct NewTasksRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamCaller,
    /// The key of the request, if it may be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RequestKey>)]
    pub request_key: Option<String>,
    /// The tasks, with 4,096 dependencies in all, in both directions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, nullable = false, min_items = 1, max_items = 200)]
    pub tasks: Option<Vec<NewTask>>,
}

/// Changes of a task: all, or none. Omitted fields stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct EditTaskRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamCaller,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<TaskTitle>)]
    pub title: Option<String>,
    /// Work to do; an empty text removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LongText>)]
    pub description: Option<String>,
    /// The priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
    /// The status that it has. Another one is refused: claim the task, or complete it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Its dependencies. Completed tasks stay among it, unless `drop_completed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<TaskId>>, max_items = 256)]
    pub dependencies: Option<Vec<String>>,
    /// Whether completed tasks that `dependencies` leaves out are dropped as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_completed: Option<bool>,
    /// Tasks that depend on it, besides completed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<TaskId>>, max_items = 256)]
    pub blocks: Option<Vec<String>>,
    /// Files that it is about. At most 64 KiB of paths together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<FilePath>>, max_items = 512)]
    pub files: Option<Vec<String>>,
    /// Their branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Branch>)]
    pub branch: Option<String>,
    /// The intent that it serves; empty for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<IntentIdOrNone>)]
    pub intent_id: Option<String>,
    /// A note to add.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LongText>)]
    pub note: Option<String>,
    /// Whether to reset the count of expired claims: by its creator or the leader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clear_lapses: Option<bool>,
    /// The member for whom it is reserved for ten minutes, and who is notified; empty for none. By its creator or the leader, and
    /// alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<HandleOrNone>)]
    pub assignee: Option<String>,
}

/// The working copy in which the work on the files of a task is done. A task with files takes `branch` and `agent_head`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct TaskWork {
    /// The branch that the work is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Branch>)]
    pub branch: Option<String>,
    /// The branch that the caller commits to, where it is another one: then the work is wanted there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Branch>)]
    pub work_branch: Option<String>,
    /// The commit that the working copy is at: `git rev-parse HEAD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CommitId>)]
    pub agent_head: Option<String>,
    /// The newest commit of the remote branch that the working copy contains.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CommitId>)]
    pub base_head: Option<String>,
    /// Whether the files of the task are claimed and released with it; true by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim_files: Option<bool>,
    /// Of a claim: `keeps` if the interface of the files stays as it is. Without it, it may change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfacePromise>,
}

/// The claim of a task with its files, or its renewal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ClaimTaskRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamCaller,
    /// Seconds until the claim expires unless it is renewed; the server's default if omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 30, maximum = 86_400)]
    pub lease_seconds: Option<u32>,
    /// Where the work on its files is done.
    #[serde(flatten)]
    pub work: TaskWork,
}

/// The claim of the first task that is ready and whose files are free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct NextTaskRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamCaller,
    /// The key of the request, if it may be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<RequestKey>)]
    pub request_key: Option<String>,
    /// Seconds until the claim expires unless it is renewed; the server's default if omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 30, maximum = 86_400)]
    pub lease_seconds: Option<u32>,
    /// Seconds to wait for a task; 0 where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 20)]
    pub wait: Option<u32>,
    /// Where the work on its files is done.
    #[serde(flatten)]
    pub work: TaskWork,
}

/// The completion of a task by its owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CompleteTaskRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamCaller,
    /// Its result. The agents that work on dependent tasks get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LongText>)]
    pub result: Option<String>,
    /// Fencing token of the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub token: Option<i64>,
    /// The commit that was pushed, where files were claimed with the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CommitId>)]
    pub new_repo_head: Option<String>,
    /// Where the work on its files is done.
    #[serde(flatten)]
    pub work: TaskWork,
}

/// The end of a claim without completion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ReleaseTaskRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamCaller,
    /// A note for the next owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LongText>)]
    pub note: Option<String>,
    /// Fencing token of the claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub token: Option<i64>,
    /// The commit that was pushed: of the files that were claimed with the task, those whose work the branch has are released.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CommitId>)]
    pub new_repo_head: Option<String>,
    /// Release all of these files without a push, for discarded work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandon: Option<bool>,
    /// Where the work on its files is done.
    #[serde(flatten)]
    pub work: TaskWork,
}

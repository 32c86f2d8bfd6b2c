//! Requests.

use super::{TaskPriority, TaskStatus};
use crate::locks::InterfacePromise;
use crate::schema::{
    Branch, CommitId, FilePath, HandleOrNone, IntentIdOrNone, LongText, RequestKey, TaskId, TaskTitle,
};
use crate::teams::TeamCaller;

wire! {
    /// A task to be added.
    #[derive(Default)]
    pub struct NewTask {
        /// The title.
        pub title: optional TaskTitle as String,
        /// Work to do.
        pub description: optional LongText as String,
        /// The priority; `normal` if omitted.
        pub priority: Option<TaskPriority>,
        /// The id of an imported task; `t1`, `t2` and so on if omitted.
        pub id: optional TaskId as String,
        /// The name by which other tasks of the request refer to this one.
        #[serde(rename = "ref")]
        pub reference: optional TaskId as String,
        /// Its dependencies: ids, or references of the request.
        #[schema(max_items = 256)]
        pub dependencies: optional Vec<TaskId> as Vec<String>,
        /// Tasks that depend on it: ids, or references of the request.
        #[schema(max_items = 256)]
        pub blocks: optional Vec<TaskId> as Vec<String>,
        /// Files that it is about, and that are claimed with it. At most 64 KiB of paths together.
        #[schema(max_items = 512)]
        pub files: optional Vec<FilePath> as Vec<String>,
        /// Their branch; that of the claim if omitted.
        pub branch: optional Branch as String,
        /// The intent that it serves.
        pub intent_id: optional crate::schema::IntentId as String,
    }

    /// Tasks to be added: all, or none.
    #[derive(Default)]
    pub struct NewTasksRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamCaller,
        /// The key of the request, if it may be repeated.
        pub request_key: optional RequestKey as String,
        /// The tasks, with 4,096 dependencies in all, in both directions.
        #[schema(required = true, nullable = false, min_items = 1, max_items = 200)]
        pub tasks: Option<Vec<NewTask>>,
    }

    /// Changes to a task: all, or none. Omitted fields stay the same.
    #[derive(Default)]
    pub struct EditTaskRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamCaller,
        /// The title.
        pub title: optional TaskTitle as String,
        /// Work to do; an empty text removes it.
        pub description: optional LongText as String,
        /// The priority.
        pub priority: Option<TaskPriority>,
        /// Its current status. Any other is refused: claim the task, or complete it.
        pub status: Option<TaskStatus>,
        /// Its dependencies. Completed ones stay, unless `drop_completed`.
        #[schema(max_items = 256)]
        pub dependencies: optional Vec<TaskId> as Vec<String>,
        /// Whether completed tasks that `dependencies` leaves out are dropped as well.
        pub drop_completed: Option<bool>,
        /// Tasks that depend on it, besides completed ones.
        #[schema(max_items = 256)]
        pub blocks: optional Vec<TaskId> as Vec<String>,
        /// Files that it is about. At most 64 KiB of paths together.
        #[schema(max_items = 512)]
        pub files: optional Vec<FilePath> as Vec<String>,
        /// Their branch.
        pub branch: optional Branch as String,
        /// The intent that it serves; empty for none.
        pub intent_id: optional IntentIdOrNone as String,
        /// A note to add.
        pub note: optional LongText as String,
        /// Whether to reset the count of expired claims: by its creator or the leader.
        pub clear_lapses: Option<bool>,
        /// The member for whom it is reserved for ten minutes, and who is notified; empty for none. By its creator or the leader,
        /// and as the only change.
        pub assignee: optional HandleOrNone as String,
    }

    /// The working copy in which the work on the files of a task is done. A task with files needs `branch` and `agent_head`.
    #[derive(Default)]
    pub struct TaskWork {
        /// The branch that the work is for.
        pub branch: optional Branch as String,
        /// The branch that the caller commits to, if it is not `branch`: the work is then expected there.
        pub work_branch: optional Branch as String,
        /// The commit that the working copy is at: `git rev-parse HEAD`.
        pub agent_head: optional CommitId as String,
        /// The newest commit of the remote branch that the working copy contains.
        pub base_head: optional CommitId as String,
        /// Whether the files of the task are claimed and released with it; true by default.
        pub claim_files: Option<bool>,
        /// With a claim: `keeps` if the interface of the files stays as it is. If omitted, it may change.
        pub interface: Option<InterfacePromise>,
    }

    /// The claim of a task with its files, or its renewal.
    #[derive(Default)]
    pub struct ClaimTaskRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamCaller,
        /// Seconds until the claim expires unless it is renewed; the server's default if omitted.
        #[schema(minimum = 30, maximum = 86_400)]
        pub lease_seconds: Option<u32>,
        /// Where the work on its files is done.
        #[serde(flatten)]
        pub work: TaskWork,
    }

    /// The claim of the first task that is ready and whose files are free.
    #[derive(Default)]
    pub struct NextTaskRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamCaller,
        /// The key of the request, if it may be repeated.
        pub request_key: optional RequestKey as String,
        /// Seconds until the claim expires unless it is renewed; the server's default if omitted.
        #[schema(minimum = 30, maximum = 86_400)]
        pub lease_seconds: Option<u32>,
        /// Seconds to wait for a task; 0 if omitted.
        #[schema(maximum = 20)]
        pub wait: Option<u32>,
        /// Where the work on its files is done.
        #[serde(flatten)]
        pub work: TaskWork,
    }

    /// The completion of a task by its owner.
    #[derive(Default)]
    pub struct CompleteTaskRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamCaller,
        /// Its result. The agents that work on dependent tasks get it.
        pub result: optional LongText as String,
        /// Fencing token of the claim.
        #[schema(minimum = 1)]
        pub token: Option<i64>,
        /// The commit that was pushed, where files were claimed with the task.
        pub new_repo_head: optional CommitId as String,
        /// Where the work on its files is done.
        #[serde(flatten)]
        pub work: TaskWork,
    }

    /// The end of a claim without completion.
    #[derive(Default)]
    pub struct ReleaseTaskRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamCaller,
        /// A note for the next owner.
        pub note: optional LongText as String,
        /// Fencing token of the claim.
        #[schema(minimum = 1)]
        pub token: Option<i64>,
        /// The commit that was pushed: of the files that were claimed with the task, those whose work the branch has are released.
        pub new_repo_head: optional CommitId as String,
        /// Release all of these files without a push, for discarded work.
        pub abandon: Option<bool>,
        /// Where the work on its files is done.
        #[serde(flatten)]
        pub work: TaskWork,
    }
}

//! The arguments of the tools.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schema::AgentId;
use crate::tasks::{TaskPriority, TaskStatus, TaskWork};

wire! {
    /// The caller and its team.
    #[derive(Default)]
    pub struct ToolCaller {
        repo_url,
        /// Yours, if you are in several.
        pub team: Option<String>,
        /// Your agent_id.
        pub agent_id: optional AgentId as String,
    }
}

/// Acts of `team`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TeamAction {
    /// Lists the teams.
    List,
    /// Shows one.
    #[default]
    Show,
    /// Creates one.
    Create,
    /// Joins one.
    Join,
    /// Leaves it.
    Leave,
    /// Asks the team, or a member, to stop.
    Request,
    /// Stops, as a shutdown asks.
    Approve,
    /// Goes on, for a reason.
    Reject,
}

wire! {
    /// The arguments of `team`.
    #[derive(Default)]
    pub struct TeamToolCall {
        /// The caller.
        #[serde(flatten)]
        pub caller: ToolCaller,
        /// request, approve, reject: of a shutdown.
        pub action: required TeamAction as TeamAction,
        /// Your name there.
        pub handle: Option<String>,
        /// With request: one member.
        pub target: Option<String>,
        /// Required with reject.
        pub reason: Option<String>,
        /// With approve and reject.
        pub shutdown_id: Option<String>,
    }

    /// A task of `task_create`.
    #[derive(Default)]
    pub struct ToolTask {
        #[expect(missing_docs, reason = "its name says it")]
        pub title: Option<String>,
        #[expect(missing_docs, reason = "its name says it")]
        pub description: Option<String>,
        #[expect(missing_docs, reason = "its values say it")]
        pub priority: Option<TaskPriority>,
        /// A name for the others here.
        #[serde(rename = "ref")]
        pub reference: Option<String>,
        /// Ids or refs.
        pub dependencies: Option<Vec<String>>,
        #[expect(missing_docs, reason = "its name says it")]
        pub files: Option<Vec<String>>,
    }

    /// The arguments of `task_create`.
    #[derive(Default)]
    pub struct CreateTasksCall {
        /// The caller.
        #[serde(flatten)]
        pub caller: ToolCaller,
        #[expect(missing_docs, reason = "its name says it")]
        #[schema(required = true, nullable = false)]
        pub tasks: Option<Vec<ToolTask>>,
    }

    /// The arguments of `task_list`.
    #[derive(Default)]
    pub struct ListTasksCall {
        /// The caller.
        #[serde(flatten)]
        pub caller: ToolCaller,
        /// One task, with its texts.
        pub id: Option<String>,
        #[expect(missing_docs, reason = "its values say it")]
        pub status: Option<TaskStatus>,
        #[expect(missing_docs, reason = "its name says it")]
        pub owner: Option<String>,
        /// In the title.
        pub text: Option<String>,
        /// The last `next`.
        pub after: Option<u64>,
        /// The most tasks; no model sends it.
        #[serde(skip)]
        pub limit: Option<u32>,
        /// Only unowned tasks; no model sends it.
        #[serde(skip)]
        pub is_unclaimed: bool,
        /// With descriptions; no model sends it.
        #[serde(skip)]
        pub has_descriptions: bool,
    }

    /// The arguments of `task_claim`.
    #[derive(Default)]
    pub struct ClaimTaskCall {
        /// The caller.
        #[serde(flatten)]
        pub caller: ToolCaller,
        /// Without it: the next.
        pub id: Option<String>,
        /// Seconds, for the next: 0 to 20.
        pub wait: Option<u32>,
        /// Where the work on its files is done.
        #[serde(flatten)]
        pub work: TaskWork,
    }
}

/// Acts of `task_update`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskUpdate {
    /// Edits the sent fields.
    #[default]
    Edit,
    /// Ends it as done.
    Complete,
    /// Releases it.
    Release,
}

wire! {
    /// The arguments of `task_update`.
    #[derive(Default)]
    pub struct UpdateTaskCall {
        /// The caller.
        #[serde(flatten)]
        pub caller: ToolCaller,
        #[expect(missing_docs, reason = "its name says it")]
        #[schema(required = true, nullable = false)]
        pub id: Option<String>,
        #[expect(missing_docs, reason = "its values say it")]
        pub action: required TaskUpdate as TaskUpdate,
        /// With complete: for the next owners.
        pub result: Option<String>,
        /// Progress so far.
        pub note: Option<String>,
        #[expect(missing_docs, reason = "its name says it")]
        pub title: Option<String>,
        #[expect(missing_docs, reason = "its name says it")]
        pub description: Option<String>,
        #[expect(missing_docs, reason = "its values say it")]
        pub priority: Option<TaskPriority>,
        #[expect(missing_docs, reason = "its name says it")]
        pub dependencies: Option<Vec<String>>,
        /// Alone: a handle.
        pub assignee: Option<String>,
        #[expect(missing_docs, reason = "its name says it")]
        pub new_repo_head: Option<String>,
        /// With release: unlock its files without a push.
        pub abandon: Option<bool>,
        /// Where the work on its files is done.
        #[serde(flatten)]
        pub work: TaskWork,
    }

    /// The arguments of `message_send`.
    #[derive(Default)]
    pub struct SendMessageCall {
        /// The caller.
        #[serde(flatten)]
        pub caller: ToolCaller,
        /// Handles, or broadcast.
        pub to: Option<Vec<String>>,
        /// idle: for the leader, without to.
        #[serde(rename = "type")]
        pub kind: Option<String>,
        #[expect(missing_docs, reason = "its name says it")]
        #[schema(required = true, nullable = false)]
        pub message: Option<String>,
        #[expect(missing_docs, reason = "its name says it")]
        pub task_id: Option<String>,
        #[expect(missing_docs, reason = "its name says it")]
        pub reply_to: Option<u64>,
    }

    /// The arguments of `message_read`.
    #[derive(Default)]
    pub struct ReadMessagesCall {
        /// The caller.
        #[serde(flatten)]
        pub caller: ToolCaller,
        /// The last one that you got.
        pub cursor: Option<u64>,
        /// Seconds: 0 to 20.
        pub wait: Option<u32>,
    }
}

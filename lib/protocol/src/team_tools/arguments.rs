//! The arguments of the tools.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::schema::{AgentId, RepoUrl};
use crate::tasks::{TaskPriority, TaskStatus, TaskWork};

/// The caller and its team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ToolCaller {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// Yours, if you are in several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// Your agent_id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
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
    /// Makes one.
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

/// The arguments of `team`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct TeamToolCall {
    /// The caller.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// request, approve, reject: of a shutdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TeamAction, required = true)]
    pub action: Option<TeamAction>,
    /// Your name there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// With request: one member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Required with reject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// With approve and reject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_id: Option<String>,
}

/// A task of `task_create`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ToolTask {
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[expect(missing_docs, reason = "its values say it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
    /// A name for the others here.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Ids or refs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
}

/// The arguments of `task_create`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct CreateTasksCall {
    /// The caller.
    #[serde(flatten)]
    pub caller: ToolCaller,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, nullable = false)]
    pub tasks: Option<Vec<ToolTask>>,
}

/// The arguments of `task_list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ListTasksCall {
    /// The caller.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// One task, with its texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[expect(missing_docs, reason = "its values say it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// In the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The last `next`.
    #[serde(skip_serializing_if = "Option::is_none")]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ClaimTaskCall {
    /// The caller.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// Without it: the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Seconds, for the next: 0 to 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
    /// Where the work on its files is done.
    #[serde(flatten)]
    pub work: TaskWork,
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
    /// Gives it back.
    Release,
}

/// The arguments of `task_update`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct UpdateTaskCall {
    /// The caller.
    #[serde(flatten)]
    pub caller: ToolCaller,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, nullable = false)]
    pub id: Option<String>,
    #[expect(missing_docs, reason = "its values say it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TaskUpdate, required = true)]
    pub action: Option<TaskUpdate>,
    /// With complete: for the next owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[expect(missing_docs, reason = "its values say it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<TaskPriority>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
    /// Alone: a handle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_repo_head: Option<String>,
    /// With release: unlock its files without a push.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abandon: Option<bool>,
    /// Where the work on its files is done.
    #[serde(flatten)]
    pub work: TaskWork,
}

/// The arguments of `message_send`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct SendMessageCall {
    /// The caller.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// Handles, or broadcast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Vec<String>>,
    /// idle: for the leader, without to.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, nullable = false)]
    pub message: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<u64>,
}

/// The arguments of `message_read`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ReadMessagesCall {
    /// The caller.
    #[serde(flatten)]
    pub caller: ToolCaller,
    /// The last one that you got.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<u64>,
    /// Seconds: 0 to 20.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
}

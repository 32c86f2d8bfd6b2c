//! Arguments of the tools of the plugin opencode-teams, with the names that the plugin uses.
//!
//! Coord also accepts arguments that the plugin lacks:
//!
//! - `repo_url`, for a server with several repositories
//! - `agentId` of the agent that adds or changes a task
//! - `dependencies` and `blocks`
//! - `after`, for a long list

use serde::Deserialize;
use utoipa::ToSchema;

use crate::schema::RepoUrl;
use crate::tasks::{TaskPriority, TaskStatus};

/// The repository that a call is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct InRepository {
    /// The repository.
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
}

/// The team that a call is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
pub struct InTeam {
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(flatten)]
    pub place: InRepository,
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(rename = "teamName")]
    #[schema(required = true, nullable = false)]
    pub team: Option<String>,
}

/// An agent's identity. Omitted fields come from the environment of `coord mcp`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct AgentInfo {
    pub agent_id: Option<String>,
    pub agent_name: Option<String>,
    pub agent_type: Option<String>,
}

/// The arguments of `spawn-team`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct SpawnTeam {
    #[serde(flatten)]
    pub place: InTeam,
    pub leader_info: Option<AgentInfo>,
}

/// The arguments of `join-team`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct JoinTeam {
    #[serde(flatten)]
    pub place: InTeam,
    pub agent_info: Option<AgentInfo>,
}

/// The arguments of `read-messages`, `request-shutdown` and `approve-shutdown`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct ActAs {
    #[serde(flatten)]
    pub place: InTeam,
    pub agent_id: Option<String>,
}

/// The arguments of `send-message`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct SendMessage {
    #[serde(flatten)]
    pub place: InTeam,
    #[schema(required = true, nullable = false)]
    pub target_agent_id: Option<String>,
    #[schema(required = true, nullable = false)]
    pub message: Option<String>,
    pub from_agent_id: Option<String>,
}

/// The arguments of `broadcast-message`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct BroadcastMessage {
    #[serde(flatten)]
    pub place: InTeam,
    #[schema(required = true, nullable = false)]
    pub message: Option<String>,
    pub from_agent_id: Option<String>,
}

/// The arguments of `poll-inbox`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PollInbox {
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(flatten)]
    pub place: InTeam,
    #[expect(missing_docs, reason = "its name says it")]
    pub agent_id: Option<String>,
    /// Default 30000; answered sooner where the server waits less.
    pub timeout_ms: Option<u64>,
    /// Only messages after this time, ISO 8601.
    pub since: Option<String>,
}

/// A new task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct TaskData {
    pub title: Option<String>,
    pub description: Option<String>,
    pub priority: Option<TaskPriority>,
    /// Ids of tasks.
    pub dependencies: Option<Vec<String>>,
    /// Ids of tasks that wait for it.
    pub blocks: Option<Vec<String>>,
}

/// The arguments of `create-task`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct CreateTask {
    #[serde(flatten)]
    pub place: InTeam,
    #[schema(required = true, nullable = false)]
    pub task_data: Option<TaskData>,
    pub agent_id: Option<String>,
}

/// Filters for a list of tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct TaskFilters {
    pub status: Option<TaskStatus>,
    pub owner: Option<String>,
}

/// The arguments of `get-tasks`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetTasks {
    #[expect(missing_docs, reason = "its name says it")]
    #[serde(flatten)]
    pub place: InTeam,
    #[expect(missing_docs, reason = "its name says it")]
    pub filters: Option<TaskFilters>,
    /// The `after` that the last answer named.
    pub after: Option<u64>,
}

/// The arguments of `claim-task`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct ClaimTask {
    #[serde(flatten)]
    pub place: InTeam,
    #[schema(required = true, nullable = false)]
    pub task_id: Option<String>,
    pub agent_id: Option<String>,
}

/// Changes of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct TaskUpdates {
    pub status: Option<TaskStatus>,
    pub description: Option<String>,
    pub completed_at: Option<String>,
    /// Ids of tasks, all of them.
    pub dependencies: Option<Vec<String>>,
    /// Ids of tasks that wait for it, all of them.
    pub blocks: Option<Vec<String>>,
}

/// The arguments of `update-task`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say it")]
pub struct UpdateTask {
    #[serde(flatten)]
    pub place: InTeam,
    #[schema(required = true, nullable = false)]
    pub task_id: Option<String>,
    #[schema(required = true, nullable = false)]
    pub updates: Option<TaskUpdates>,
    pub agent_id: Option<String>,
}

//! `/api/teams`: teams, their members, and how they end. Records have the members of the files of opencode-teams, and beside
//! them Coord's own.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::orchestration::Orchestration;
use crate::schema::{AgentId, Handle, LongText, PlainLine, RepoUrl, TeamName};
use crate::waiting::{Membership, Waiting};

/// The acting caller on a team that the path names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct TeamActor {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// The calling agent, where one person runs several; overrides the header `X-Coord-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
}

/// The acting caller in a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct TeamCaller {
    /// The repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = RepoUrl, required = true)]
    pub repo_url: Option<String>,
    /// The team; may be omitted by a member of only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<TeamName>)]
    pub team: Option<String>,
    /// The calling agent, where one person runs several; overrides the header `X-Coord-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<AgentId>)]
    pub agent_id: Option<String>,
}

/// How the caller is known in a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct MemberFields {
    /// The handle; the `agent_id` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Handle>)]
    pub handle: Option<String>,
    /// Name of the agent, to show; the handle where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlainLine>)]
    pub agent_name: Option<String>,
    /// Kind of the agent, to show: `agent` where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlainLine>)]
    pub agent_type: Option<String>,
}

/// A new team. The caller leads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct NewTeamRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamActor,
    /// The name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = TeamName, required = true)]
    pub name: Option<String>,
    /// How the caller is known.
    #[serde(flatten)]
    pub member: MemberFields,
    /// Its purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LongText>)]
    pub description: Option<String>,
    /// Whether dependencies must be met before a claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

/// Joins a team, or takes over a handle of the caller's own login.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct JoinTeamRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamActor,
    /// How the caller is known.
    #[serde(flatten)]
    pub member: MemberFields,
}

/// Leaves a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct LeaveTeamRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamActor,
}

/// Hands a team over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct EditTeamRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamActor,
    /// The new leader, a member.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Handle, required = true)]
    pub leader: Option<String>,
}

/// A step of a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShutdownStep {
    /// Asks one member to stop, or the team to close. The caller approves for itself alone.
    Request,
    /// The caller stops: its tasks are released. Final.
    Approve,
    /// The caller goes on, for a reason.
    Reject,
    /// By the leader, once the time to respond is over: for all that have not answered.
    Force,
}

/// A step of a shutdown, with its particulars.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ShutdownRequest {
    /// The acting caller.
    #[serde(flatten)]
    pub caller: TeamActor,
    /// The step.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ShutdownStep, required = true)]
    pub step: Option<ShutdownStep>,
    /// With `request`: the member that is asked to stop; without it, the team.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Handle>)]
    pub target: Option<String>,
    /// Why: required with `reject`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<PlainLine>)]
    pub reason: Option<String>,
    /// With `request`: seconds to respond; 60 where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 86_400)]
    pub respond_by_seconds: Option<u32>,
    /// The open shutdown: required with `approve`, `reject` and `force`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^s[0-9]{1,15}$")]
    pub shutdown_id: Option<String>,
}

/// A team in a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TeamSummary {
    /// Its name.
    pub name: String,
    /// Handle of its leader.
    pub leader: String,
    /// Number of members.
    pub member_count: u32,
    /// When it was made, ISO 8601.
    pub created: String,
    /// When it was closed, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub closed_at: Option<String>,
    /// Number of tasks that are not completed.
    pub open_tasks: u64,
    /// Number of completed tasks.
    pub done_tasks: u64,
}

/// The teams of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = Teams)]
pub struct TeamsResponse {
    /// The teams, by name.
    pub teams: Vec<TeamSummary>,
    /// The caller's teams, and pending items in them; absent if it is in none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub your_teams: Vec<Membership>,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TeamMember)]
pub struct MemberView {
    /// Its handle.
    pub agent_id: String,
    /// Name of the agent.
    pub agent_name: String,
    /// Kind of the agent.
    pub agent_type: String,
    /// When it joined, ISO 8601.
    pub joined_at: String,
    /// Verified login.
    pub login: String,
    /// The `agent_id` with which it calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub agent: Option<String>,
    /// When it was last seen, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub last_seen: Option<String>,
    /// Whether it was seen within 15 minutes, or has a task.
    pub is_live: bool,
    /// When it approved a shutdown, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub ended_at: Option<String>,
    /// Ids of the tasks that it has.
    pub claims: Vec<String>,
    /// Number of messages that it has not proved to have.
    pub unread: u64,
    /// Number of the newest message when it joined: broadcasts after it are to this member.
    #[serde(default)]
    #[schema(required = true)]
    pub joined_after: u64,
    /// Number of the message up to which it has proved to have all.
    #[serde(default)]
    #[schema(required = true)]
    pub read_to: u64,
    /// Whether the handle is bound to the caller's login.
    #[serde(default)]
    #[schema(required = true)]
    pub is_yours: bool,
}

/// An open shutdown.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = Shutdown)]
pub struct ShutdownView {
    /// Its id.
    pub id: String,
    /// The member that is asked to stop; absent for the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub target: Option<String>,
    /// Handle of the author.
    pub by: String,
    /// Verified login of the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub login: Option<String>,
    /// Why.
    pub reason: String,
    /// When it was asked, ISO 8601.
    pub requested_at: String,
    /// When it may be forced, ISO 8601.
    pub respond_by: String,
    /// Handles that have approved.
    pub approved: Vec<String>,
    /// Handles that have rejected.
    pub rejected: Vec<String>,
}

/// A team.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Team)]
pub struct TeamView {
    /// Its name.
    pub name: String,
    /// When it was made, ISO 8601.
    pub created: String,
    /// Handle of its leader.
    pub leader: String,
    /// Its members, by handle.
    pub members: Vec<MemberView>,
    /// Handles that have approved the shutdown of the team.
    pub shutdown_approvals: Vec<String>,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub description: Option<String>,
    /// Login of its creator.
    pub created_by: String,
    /// Whether dependencies must be met before a claim.
    pub is_strict: bool,
    /// When it was closed, ISO 8601.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub closed_at: Option<String>,
    /// The open shutdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub shutdown: Option<ShutdownView>,
    /// Number of tasks that are not completed.
    pub open_tasks: u64,
    /// Number of completed tasks.
    pub done_tasks: u64,
}

/// One team.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = TeamFound)]
pub struct TeamResponse {
    /// The team.
    pub team: TeamView,
    /// Pending items for the caller.
    #[serde(flatten)]
    pub waiting: Waiting,
}

/// How far a shutdown is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShutdownProgress {
    /// Answers are missing.
    Open,
    /// The member has stopped.
    Stopped,
    /// The team is closed.
    Closed,
    /// It was rejected, and is over.
    Rejected,
}

/// A file that is locked for writing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct UnpushedFile {
    /// The branch of the lock.
    pub branch: String,
    /// The file.
    pub file_path: String,
}

/// A request's changes of a team.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = TeamChanged)]
pub struct TeamChangeResponse {
    /// The team.
    pub team: String,
    /// The caller's handle, after it has created or joined the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub handle: Option<String>,
    /// The agent of the same login that had the handle before; empty for one without an `agent_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub taken_over_from: Option<String>,
    /// The shutdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub shutdown_id: Option<String>,
    /// How far it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    pub shutdown_state: Option<ShutdownProgress>,
    /// Tasks that were released.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_back: Vec<String>,
    /// Members that were passed over by force.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passed_over: Vec<String>,
    /// The first 100 files that the caller, which stops, has locked for writing: their work is not pushed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub unpushed: Vec<UnpushedFile>,
    /// The number of these files.
    #[serde(default, skip_serializing_if = "crate::locks::is_zero")]
    pub unpushed_count: u64,
    /// Members that were not notified of the answer, because their inboxes are full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_told: Vec<String>,
    /// Pending items for the caller.
    #[serde(flatten)]
    pub waiting: Waiting,
    /// The next step.
    pub orchestration: Orchestration,
}

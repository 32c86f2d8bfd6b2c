//! `/api/teams`: teams, their members, and their shutdown. Records have the fields of opencode-teams' files, and fields
//! of Coord's own.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::orchestration::Orchestration;
use crate::schema::{Handle, LongText, PlainLine, TeamName};
use crate::waiting::{Membership, Waiting};

wire! {
    /// The acting caller on a team that the path names.
    #[derive(Default)]
    pub struct TeamActor {
        repo_url,
        agent_id,
    }

    /// The acting caller in a team.
    #[derive(Default)]
    pub struct TeamCaller {
        repo_url,
        /// The team; may be omitted by a member of only one.
        pub team: optional TeamName as String,
        agent_id,
    }

    /// The caller's handle and display names in a team.
    #[derive(Default)]
    pub struct MemberFields {
        /// The handle; the `agent_id` if omitted.
        pub handle: optional Handle as String,
        /// Display name of the agent; the handle if omitted.
        pub agent_name: optional PlainLine as String,
        /// Kind of the agent, for display; `agent` if omitted.
        pub agent_type: optional PlainLine as String,
    }

    /// A new team. The caller leads it.
    #[derive(Default)]
    pub struct NewTeamRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamActor,
        /// The name.
        pub name: required TeamName as String,
        /// How the caller is known.
        #[serde(flatten)]
        pub member: MemberFields,
        /// Its purpose.
        pub description: optional LongText as String,
        /// Whether dependencies must be met before a claim.
        pub strict: Option<bool>,
    }
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

wire! {
    /// Hands a team over.
    #[derive(Default)]
    pub struct EditTeamRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamActor,
        /// The new leader, a member.
        pub leader: required Handle as String,
    }
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

wire! {
    /// A step of a shutdown, with its details.
    #[derive(Default)]
    pub struct ShutdownRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamActor,
        /// The step.
        pub step: required ShutdownStep as ShutdownStep,
        /// With `request`: the member that is asked to stop; without it, the team.
        pub target: optional Handle as String,
        /// Why: required with `reject`.
        pub reason: optional PlainLine as String,
        /// With `request`: seconds to respond; 60 if omitted.
        #[schema(minimum = 1, maximum = 86_400)]
        pub respond_by_seconds: Option<u32>,
        /// The open shutdown: required with `approve`, `reject` and `force`.
        #[schema(pattern = "^s[0-9]{1,15}$")]
        pub shutdown_id: Option<String>,
    }

    /// A team in a list.
    #[serde(rename_all = "camelCase")]
    pub struct TeamSummary {
        /// Its name.
        pub name: String,
        /// Handle of its leader.
        pub leader: String,
        /// Number of members.
        pub member_count: u32,
        /// When it was created, ISO 8601.
        pub created: String,
        /// When it was closed, ISO 8601.
        pub closed_at: maybe String,
        /// Number of tasks that are not completed.
        pub open_tasks: u64,
        /// Number of completed tasks.
        pub done_tasks: u64,
    }
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

impl TeamsResponse {
    /// The caller's only team, for a call that names none.
    ///
    /// # Errors
    /// The problem of the field `team`, when the caller is in no team, or in several.
    pub fn only_team(&self) -> Result<&str, String> {
        let names: Vec<&str> = self.your_teams.iter().map(|team| team.team.as_str()).collect();
        match names.as_slice() {
            [name] => Ok(name),
            [] => Err("is required: you are in no team".to_owned()),
            names => Err(format!("is required: you are in {}", names.join(", "))),
        }
    }
}

wire! {
    /// A member of a team.
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
        pub agent: maybe String,
        /// When it was last seen, ISO 8601.
        pub last_seen: maybe String,
        /// Whether it was seen within 15 minutes, or has a task.
        pub is_live: bool,
        /// When it approved a shutdown, ISO 8601.
        pub ended_at: maybe String,
        /// Ids of the tasks that it has.
        pub claims: Vec<String>,
        /// Number of messages that it has not confirmed.
        pub unread: u64,
        /// Number of the newest message when it joined: broadcasts after it are to this member.
        #[serde(default)]
        #[schema(required = true)]
        pub joined_after: u64,
        /// Number of the newest message up to which it has confirmed all.
        #[serde(default)]
        #[schema(required = true)]
        pub read_to: u64,
        /// Whether the handle is bound to the caller's login.
        #[serde(default)]
        #[schema(required = true)]
        pub is_yours: bool,
    }

    /// An open shutdown.
    #[schema(as = Shutdown)]
    pub struct ShutdownView {
        /// Its id.
        pub id: String,
        /// The member that is asked to stop; absent for the team.
        pub target: maybe String,
        /// Handle of the author.
        pub by: String,
        /// Verified login of the author.
        pub login: maybe String,
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
    #[serde(rename_all = "camelCase")]
    #[schema(as = Team)]
    pub struct TeamView {
        /// Its name.
        pub name: String,
        /// When it was created, ISO 8601.
        pub created: String,
        /// Handle of its leader.
        pub leader: String,
        /// Its members, by handle.
        pub members: Vec<MemberView>,
        /// Handles that have approved the shutdown of the team.
        pub shutdown_approvals: Vec<String>,
        /// Its purpose.
        pub description: maybe String,
        /// Login of its creator.
        pub created_by: String,
        /// Whether dependencies must be met before a claim.
        pub is_strict: bool,
        /// When it was closed, ISO 8601.
        pub closed_at: maybe String,
        /// The open shutdown.
        pub shutdown: maybe ShutdownView,
        /// Number of tasks that are not completed.
        pub open_tasks: u64,
        /// Number of completed tasks.
        pub done_tasks: u64,
    }
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

/// The progress of a shutdown.
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

wire! {
    /// The changes that a request made to a team.
    #[schema(as = TeamChanged)]
    pub struct TeamChangeResponse {
        /// The team.
        pub team: String,
        /// The caller's handle, after it has created or joined the team.
        pub handle: maybe String,
        /// The agent of the same login that had the handle before; empty for one without an `agent_id`.
        pub taken_over_from: maybe String,
        /// The shutdown.
        pub shutdown_id: maybe String,
        /// Progress so far.
        pub shutdown_state: maybe ShutdownProgress,
        /// Tasks that were released.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub given_back: Vec<String>,
        /// Members that had not answered when the leader forced the shutdown.
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
}

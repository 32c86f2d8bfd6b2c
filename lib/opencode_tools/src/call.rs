//! The arguments of the tools.

use coord_protocol::opencode_tools::{
    ActAs, BroadcastMessage, ClaimTask, CreateTask, GetTasks, InRepository, InTeam, JoinTeam, PollInbox, SendMessage,
    SpawnTeam, UpdateTask,
};
use coord_protocol::tool_names;

use coord_http::body::parse;
use coord_server::error::ApiError;

/// A call of a tool.
#[derive(Clone, Debug)]
pub enum OpenCodeCall {
    SpawnTeam(SpawnTeam),
    DiscoverTeams(InRepository),
    JoinTeam(JoinTeam),
    GetTeamInfo(InTeam),
    SendMessage(SendMessage),
    BroadcastMessage(BroadcastMessage),
    ReadMessages(ActAs),
    PollInbox(PollInbox),
    CreateTask(CreateTask),
    GetTasks(GetTasks),
    ClaimTask(ClaimTask),
    UpdateTask(UpdateTask),
    RequestShutdown(ActAs),
    ApproveShutdown(ActAs),
}

impl OpenCodeCall {
    /// Reads the `arguments` of the tool `name`, a JSON object. `None` if the plugin has no such tool.
    ///
    /// # Errors
    /// When the arguments do not have the shape of the tool's request.
    pub fn read(name: &str, arguments: &str) -> Option<Result<OpenCodeCall, ApiError>> {
        let json = arguments.as_bytes();
        Some(match name {
            tool_names::SPAWN_TEAM => parse(json).map(OpenCodeCall::SpawnTeam),
            tool_names::DISCOVER_TEAMS => parse(json).map(OpenCodeCall::DiscoverTeams),
            tool_names::JOIN_TEAM => parse(json).map(OpenCodeCall::JoinTeam),
            tool_names::GET_TEAM_INFO => parse(json).map(OpenCodeCall::GetTeamInfo),
            tool_names::SEND_MESSAGE => parse(json).map(OpenCodeCall::SendMessage),
            tool_names::BROADCAST_MESSAGE => parse(json).map(OpenCodeCall::BroadcastMessage),
            tool_names::READ_MESSAGES => parse(json).map(OpenCodeCall::ReadMessages),
            tool_names::POLL_INBOX => parse(json).map(OpenCodeCall::PollInbox),
            tool_names::CREATE_TASK => parse(json).map(OpenCodeCall::CreateTask),
            tool_names::GET_TASKS => parse(json).map(OpenCodeCall::GetTasks),
            tool_names::CLAIM_TASK => parse(json).map(OpenCodeCall::ClaimTask),
            tool_names::UPDATE_TASK => parse(json).map(OpenCodeCall::UpdateTask),
            tool_names::REQUEST_SHUTDOWN => parse(json).map(OpenCodeCall::RequestShutdown),
            tool_names::APPROVE_SHUTDOWN => parse(json).map(OpenCodeCall::ApproveShutdown),
            _ => return None,
        })
    }

    pub fn repo_url(&self) -> Option<&str> {
        let repository = match self {
            OpenCodeCall::SpawnTeam(arguments) => &arguments.place.place,
            OpenCodeCall::DiscoverTeams(repository) => repository,
            OpenCodeCall::JoinTeam(arguments) => &arguments.place.place,
            OpenCodeCall::GetTeamInfo(team) => &team.place,
            OpenCodeCall::SendMessage(arguments) => &arguments.place.place,
            OpenCodeCall::BroadcastMessage(arguments) => &arguments.place.place,
            OpenCodeCall::PollInbox(arguments) => &arguments.place.place,
            OpenCodeCall::CreateTask(arguments) => &arguments.place.place,
            OpenCodeCall::GetTasks(arguments) => &arguments.place.place,
            OpenCodeCall::ClaimTask(arguments) => &arguments.place.place,
            OpenCodeCall::UpdateTask(arguments) => &arguments.place.place,
            OpenCodeCall::ReadMessages(arguments)
            | OpenCodeCall::RequestShutdown(arguments)
            | OpenCodeCall::ApproveShutdown(arguments) => &arguments.place.place,
        };
        repository.repo_url.as_deref()
    }
}

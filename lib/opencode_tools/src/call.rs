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
    /// Reads the `arguments` of the tool `name`, a JSON object. `None` if it is no tool of the plugin.
    ///
    /// # Errors
    /// When they are not of the shape of the tool's request.
    pub fn read(name: &str, arguments: &str) -> Option<Result<OpenCodeCall, ApiError>> {
        let sent = arguments.as_bytes();
        Some(match name {
            tool_names::SPAWN_TEAM => parse(sent).map(OpenCodeCall::SpawnTeam),
            tool_names::DISCOVER_TEAMS => parse(sent).map(OpenCodeCall::DiscoverTeams),
            tool_names::JOIN_TEAM => parse(sent).map(OpenCodeCall::JoinTeam),
            tool_names::GET_TEAM_INFO => parse(sent).map(OpenCodeCall::GetTeamInfo),
            tool_names::SEND_MESSAGE => parse(sent).map(OpenCodeCall::SendMessage),
            tool_names::BROADCAST_MESSAGE => parse(sent).map(OpenCodeCall::BroadcastMessage),
            tool_names::READ_MESSAGES => parse(sent).map(OpenCodeCall::ReadMessages),
            tool_names::POLL_INBOX => parse(sent).map(OpenCodeCall::PollInbox),
            tool_names::CREATE_TASK => parse(sent).map(OpenCodeCall::CreateTask),
            tool_names::GET_TASKS => parse(sent).map(OpenCodeCall::GetTasks),
            tool_names::CLAIM_TASK => parse(sent).map(OpenCodeCall::ClaimTask),
            tool_names::UPDATE_TASK => parse(sent).map(OpenCodeCall::UpdateTask),
            tool_names::REQUEST_SHUTDOWN => parse(sent).map(OpenCodeCall::RequestShutdown),
            tool_names::APPROVE_SHUTDOWN => parse(sent).map(OpenCodeCall::ApproveShutdown),
            _ => return None,
        })
    }

    /// The repository that the call names.
    pub fn repo_url(&self) -> Option<&str> {
        let place = match self {
            OpenCodeCall::SpawnTeam(sent) => &sent.place.place,
            OpenCodeCall::DiscoverTeams(place) => place,
            OpenCodeCall::JoinTeam(sent) => &sent.place.place,
            OpenCodeCall::GetTeamInfo(place) => &place.place,
            OpenCodeCall::SendMessage(sent) => &sent.place.place,
            OpenCodeCall::BroadcastMessage(sent) => &sent.place.place,
            OpenCodeCall::PollInbox(sent) => &sent.place.place,
            OpenCodeCall::CreateTask(sent) => &sent.place.place,
            OpenCodeCall::GetTasks(sent) => &sent.place.place,
            OpenCodeCall::ClaimTask(sent) => &sent.place.place,
            OpenCodeCall::UpdateTask(sent) => &sent.place.place,
            OpenCodeCall::ReadMessages(sent)
            | OpenCodeCall::RequestShutdown(sent)
            | OpenCodeCall::ApproveShutdown(sent) => &sent.place.place,
        };
        place.repo_url.as_deref()
    }
}

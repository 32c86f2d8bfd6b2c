//! The arguments of the tools.

use coord_protocol::opencode_tools::{
    ActAs, BroadcastMessage, ClaimTask, CreateTask, GetTasks, InRepository, InTeam, JoinTeam, PollInbox, SendMessage,
    SpawnTeam, UpdateTask,
};

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
            "spawn-team" => parse(sent).map(OpenCodeCall::SpawnTeam),
            "discover-teams" => parse(sent).map(OpenCodeCall::DiscoverTeams),
            "join-team" => parse(sent).map(OpenCodeCall::JoinTeam),
            "get-team-info" => parse(sent).map(OpenCodeCall::GetTeamInfo),
            "send-message" => parse(sent).map(OpenCodeCall::SendMessage),
            "broadcast-message" => parse(sent).map(OpenCodeCall::BroadcastMessage),
            "read-messages" => parse(sent).map(OpenCodeCall::ReadMessages),
            "poll-inbox" => parse(sent).map(OpenCodeCall::PollInbox),
            "create-task" => parse(sent).map(OpenCodeCall::CreateTask),
            "get-tasks" => parse(sent).map(OpenCodeCall::GetTasks),
            "claim-task" => parse(sent).map(OpenCodeCall::ClaimTask),
            "update-task" => parse(sent).map(OpenCodeCall::UpdateTask),
            "request-shutdown" => parse(sent).map(OpenCodeCall::RequestShutdown),
            "approve-shutdown" => parse(sent).map(OpenCodeCall::ApproveShutdown),
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

//! The arguments of the tools.

use coord_protocol::opencode_tools::{
    ActAs, BroadcastMessage, ClaimTask, CreateTask, GetTasks, InRepository, InTeam, JoinTeam, PollInbox, SendMessage,
    SpawnTeam, UpdateTask,
};

use super::tool::OpenCodeTool;
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
    /// Reads `arguments`, a JSON object.
    pub(crate) fn read(tool: OpenCodeTool, arguments: &[u8]) -> Result<OpenCodeCall, ApiError> {
        Ok(match tool {
            OpenCodeTool::SpawnTeam => OpenCodeCall::SpawnTeam(parse(arguments)?),
            OpenCodeTool::DiscoverTeams => OpenCodeCall::DiscoverTeams(parse(arguments)?),
            OpenCodeTool::JoinTeam => OpenCodeCall::JoinTeam(parse(arguments)?),
            OpenCodeTool::GetTeamInfo => OpenCodeCall::GetTeamInfo(parse(arguments)?),
            OpenCodeTool::SendMessage => OpenCodeCall::SendMessage(parse(arguments)?),
            OpenCodeTool::BroadcastMessage => OpenCodeCall::BroadcastMessage(parse(arguments)?),
            OpenCodeTool::ReadMessages => OpenCodeCall::ReadMessages(parse(arguments)?),
            OpenCodeTool::PollInbox => OpenCodeCall::PollInbox(parse(arguments)?),
            OpenCodeTool::CreateTask => OpenCodeCall::CreateTask(parse(arguments)?),
            OpenCodeTool::GetTasks => OpenCodeCall::GetTasks(parse(arguments)?),
            OpenCodeTool::ClaimTask => OpenCodeCall::ClaimTask(parse(arguments)?),
            OpenCodeTool::UpdateTask => OpenCodeCall::UpdateTask(parse(arguments)?),
            OpenCodeTool::RequestShutdown => OpenCodeCall::RequestShutdown(parse(arguments)?),
            OpenCodeTool::ApproveShutdown => OpenCodeCall::ApproveShutdown(parse(arguments)?),
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

//! The tools, as listed for clients.

use coord_protocol::opencode_tools::{
    ActAs, BroadcastMessage, ClaimTask, CreateTask, GetTasks, InRepository, InTeam, JoinTeam, PollInbox, SendMessage,
    SpawnTeam, UpdateTask,
};
use rmcp::model::{JsonObject, Tool as Definition, ToolAnnotations};

use crate::offer::Offer;
use crate::schema::arguments_of;

/// A tool of the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenCodeTool {
    SpawnTeam,
    DiscoverTeams,
    JoinTeam,
    GetTeamInfo,
    SendMessage,
    BroadcastMessage,
    ReadMessages,
    PollInbox,
    CreateTask,
    GetTasks,
    ClaimTask,
    UpdateTask,
    RequestShutdown,
    ApproveShutdown,
}

impl OpenCodeTool {
    pub(crate) fn name(self) -> &'static str {
        match self {
            OpenCodeTool::SpawnTeam => "spawn-team",
            OpenCodeTool::DiscoverTeams => "discover-teams",
            OpenCodeTool::JoinTeam => "join-team",
            OpenCodeTool::GetTeamInfo => "get-team-info",
            OpenCodeTool::SendMessage => "send-message",
            OpenCodeTool::BroadcastMessage => "broadcast-message",
            OpenCodeTool::ReadMessages => "read-messages",
            OpenCodeTool::PollInbox => "poll-inbox",
            OpenCodeTool::CreateTask => "create-task",
            OpenCodeTool::GetTasks => "get-tasks",
            OpenCodeTool::ClaimTask => "claim-task",
            OpenCodeTool::UpdateTask => "update-task",
            OpenCodeTool::RequestShutdown => "request-shutdown",
            OpenCodeTool::ApproveShutdown => "approve-shutdown",
        }
    }

    /// The definition for clients of `offer`. A result is sent as text, without a schema.
    pub(crate) fn definition(self, offer: Offer) -> Definition {
        let (description, arguments): (&str, JsonObject) = match self {
            OpenCodeTool::SpawnTeam => ("Make a team, which you lead.", arguments_of::<SpawnTeam>(offer)),
            OpenCodeTool::DiscoverTeams => ("List the teams.", arguments_of::<InRepository>(offer)),
            OpenCodeTool::JoinTeam => (
                "Join a team; agentId is your name there.",
                arguments_of::<JoinTeam>(offer),
            ),
            OpenCodeTool::GetTeamInfo => ("Show a team and its members.", arguments_of::<InTeam>(offer)),
            OpenCodeTool::SendMessage => ("Tell a member something.", arguments_of::<SendMessage>(offer)),
            OpenCodeTool::BroadcastMessage => (
                "Tell all other members something.",
                arguments_of::<BroadcastMessage>(offer),
            ),
            OpenCodeTool::ReadMessages => ("Read your new messages.", arguments_of::<ActAs>(offer)),
            OpenCodeTool::PollInbox => (
                "Read your new messages, and wait for one if there is none.",
                arguments_of::<PollInbox>(offer),
            ),
            OpenCodeTool::CreateTask => ("Add a task.", arguments_of::<CreateTask>(offer)),
            OpenCodeTool::GetTasks => ("List tasks.", arguments_of::<GetTasks>(offer)),
            OpenCodeTool::ClaimTask => (
                "Take a task before you work on it. Again: renews.",
                arguments_of::<ClaimTask>(offer),
            ),
            OpenCodeTool::UpdateTask => (
                "Change a task; status completed ends yours.",
                arguments_of::<UpdateTask>(offer),
            ),
            OpenCodeTool::RequestShutdown => (
                "Ask the team to end. You stop; the others are asked.",
                arguments_of::<ActAs>(offer),
            ),
            OpenCodeTool::ApproveShutdown => (
                "Stop, as a shutdown asks: your tasks are released.",
                arguments_of::<ActAs>(offer),
            ),
        };
        let annotations = match self {
            OpenCodeTool::DiscoverTeams | OpenCodeTool::GetTeamInfo | OpenCodeTool::GetTasks => {
                ToolAnnotations::new().read_only(true)
            }
            _ => ToolAnnotations::new().destructive(false),
        };
        Definition::new(self.name(), description, arguments).with_annotations(annotations.open_world(false))
    }
}

//! The tool definitions, and calls of the tools.

use coord_http::Session;
use coord_mcp::{CallResult, Outcome, SelectableGroup, Tool, ToolGroup, ToolSet, argument_schema};
use coord_protocol::opencode_tools::{
    ActAs, BroadcastMessage, ClaimTask, CreateTask, GetTasks, InRepository, InTeam, JoinTeam, PollInbox, SendMessage,
    SpawnTeam, UpdateTask,
};
use coord_protocol::team_tools::{TeamCall, TeamCallResponse};
use coord_protocol::tool_names;
use coord_server::error::ApiError;
use coord_team_tools::{MESSAGES, TASKS};
use futures::FutureExt;
use rmcp::model::{CallToolResult, JsonObject, Tool as Definition, ToolAnnotations};

use super::answer::{answer, refusal};
use super::call::OpenCodeCall;
use super::team_client::{Defaults, Requests};

/// The tool `$name`, whose arguments are a `$call`.
macro_rules! tool {
    ($name:expr, $call:ty, $description:literal) => {
        Tool::new(
            $name,
            &[GROUP],
            |name, host| definition(name, $description, argument_schema::<$call>(host)),
            |session, arguments| call(session, $name, arguments),
        )
    };
}

static TOOLS: [Tool; 14] = [
    tool!(tool_names::SPAWN_TEAM, SpawnTeam, "Create a team and lead it."),
    tool!(tool_names::DISCOVER_TEAMS, InRepository, "List the teams."),
    tool!(
        tool_names::JOIN_TEAM,
        JoinTeam,
        "Join a team; agentId is your name there."
    ),
    tool!(tool_names::GET_TEAM_INFO, InTeam, "Show a team and its members."),
    tool!(tool_names::SEND_MESSAGE, SendMessage, "Send a member a message."),
    tool!(
        tool_names::BROADCAST_MESSAGE,
        BroadcastMessage,
        "Send all other members a message."
    ),
    tool!(tool_names::READ_MESSAGES, ActAs, "Read your new messages."),
    tool!(
        tool_names::POLL_INBOX,
        PollInbox,
        "Read your new messages, and wait for one if there is none."
    ),
    tool!(tool_names::CREATE_TASK, CreateTask, "Add a task."),
    tool!(tool_names::GET_TASKS, GetTasks, "List tasks."),
    tool!(
        tool_names::CLAIM_TASK,
        ClaimTask,
        "Take a task before you work on it. Again: renews."
    ),
    tool!(
        tool_names::UPDATE_TASK,
        UpdateTask,
        "Edit a task, or complete yours with status completed."
    ),
    tool!(
        tool_names::REQUEST_SHUTDOWN,
        ActAs,
        "Request a shutdown. You stop; the others are asked."
    ),
    tool!(
        tool_names::APPROVE_SHUTDOWN,
        ActAs,
        "Approve a shutdown and stop: your tasks are released."
    ),
];

/// The tools of the plugin.
pub static OPENCODE: ToolSet = ToolSet {
    groups: &[SelectableGroup {
        group: GROUP,
        is_default: false,
        replaces: &[TASKS, MESSAGES],
    }],
    tools: &TOOLS,
    resources: &[],
    rules: &[],
};

const GROUP: ToolGroup = ToolGroup("opencode");

/// The definition of a tool. It has no schema of the result, because the result is text.
fn definition(name: &'static str, description: &'static str, arguments: JsonObject) -> Definition {
    let annotations = match name {
        tool_names::DISCOVER_TEAMS | tool_names::GET_TEAM_INFO | tool_names::GET_TASKS => {
            ToolAnnotations::new().read_only(true)
        }
        _ => ToolAnnotations::new().destructive(false),
    };
    Definition::new(name, description, arguments).with_annotations(annotations.open_world(false))
}

/// Requests of the caller of a session, which run the server's own operations.
struct SessionRequests<'a>(&'a Session);

impl Requests for SessionRequests<'_> {
    type Error = ApiError;

    fn make(&self, call: TeamCall) -> impl Future<Output = Result<TeamCallResponse, ApiError>> {
        // Without the box, the compiler does not see that this future is `Send`.
        let session = self.0;
        async move { coord_team_tools::answer(session, &call).await }.boxed()
    }
}

/// Calls the tool `name`. Marks its messages as read at once, because a server keeps nothing until the next call.
fn call<'a>(session: &'a Session, name: &'static str, arguments: &'a str) -> CallResult<'a> {
    async move {
        match try_call(session, name, arguments).await {
            Ok(result) => Ok(result),
            Err(error @ ApiError::Unauthorized(_)) => Err(error),
            Err(error) => Ok(refusal(error.for_agent())),
        }
    }
    .boxed()
}

async fn try_call(session: &Session, name: &str, arguments: &str) -> Result<CallToolResult, ApiError> {
    let call = match OpenCodeCall::read(name, arguments).unwrap_or(Err(ApiError::Internal)) {
        Ok(call) => call,
        Err(error) => return Ok(Outcome::Malformed(error.for_agent()).result()),
    };
    let defaults = Defaults {
        agent_id: session.agent.clone(),
        ..Defaults::default()
    };
    let answer = answer(&call, &defaults, &SessionRequests(session)).await?;
    if let Some(proof) = &answer.proof {
        coord_team_tools::answer(session, proof).await?;
    }
    Ok(answer.result())
}

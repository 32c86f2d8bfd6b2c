//! The definitions of the tools and resources.

use coord_http::Session;
use coord_mcp::{
    CallResult, Outcome, ResourceType, SelectableGroup, Tool, ToolGroup, ToolSet, argument_schema, as_json,
    call_result, parse_query,
};
use coord_protocol::team_tools::{
    ClaimTaskCall, CreateTasksCall, ListTasksCall, ReadMessagesCall, SendMessageCall, TeamToolCall, UpdateTaskCall,
};
use coord_protocol::tool_names;
use coord_server::error::ApiError;
use coord_teams_server::operations::teams::{show_task, show_team};
use coord_teams_server::{TaskQuery, TeamsQuery};
use futures::FutureExt;
use rmcp::model::{JsonObject, Tool as Definition, ToolAnnotations};
use serde_json::Value;

use super::arguments::read_call;
use super::calls::{answer, context_of};

/// The tool `$name` of `$groups`, whose arguments are a `$call`.
macro_rules! tool {
    ($name:expr, $groups:expr, $call:ty, $description:literal) => {
        Tool::new(
            $name,
            $groups,
            |name, host| definition(name, $description, argument_schema::<$call>(host)),
            |session, arguments| call(session, $name, arguments),
        )
    };
}

static TOOLS: [Tool; 7] = [
    tool!(
        tool_names::TEAM,
        &[TASKS, MESSAGES],
        TeamToolCall,
        "Join a team to share tasks and messages; see its members, end its work."
    ),
    tool!(
        tool_names::TASK_CREATE,
        &[TASKS],
        CreateTasksCall,
        "Add tasks to the team: all or none."
    ),
    tool!(
        tool_names::TASK_LIST,
        &[TASKS],
        ListTasksCall,
        "List the team's tasks, or show one."
    ),
    tool!(
        tool_names::TASK_CLAIM,
        &[TASKS],
        ClaimTaskCall,
        "Take a task and its files before work: the next ready one, or id. Again: renews."
    ),
    tool!(
        tool_names::TASK_UPDATE,
        &[TASKS],
        UpdateTaskCall,
        "Complete your pushed task, release it, or edit one."
    ),
    tool!(
        tool_names::MESSAGE_SEND,
        &[MESSAGES],
        SendMessageCall,
        "Send teammates a message."
    ),
    tool!(
        tool_names::MESSAGE_READ,
        &[MESSAGES],
        ReadMessagesCall,
        "Read your messages. Sending the last cursor marks them read."
    ),
];

/// The tools and resources of teams.
pub static TEAMS: ToolSet = ToolSet {
    groups: &[selectable(TASKS), selectable(MESSAGES)],
    tools: &TOOLS,
    resources: &[
        ResourceType {
            kind: "team",
            template: "coord://team/{team}{?repo_url}",
            words: [
                "team",
                "The members of a team",
                "A team with its members, who is live, and an open shutdown",
            ],
            endpoint: "api/teams/",
            depends_on_agent: false,
            read: |session, name, uri| {
                async move {
                    let query = parse_query::<TeamsQuery>(uri)?;
                    as_json(&show_team(&session.app, &name, &query.repo_url, context_of(session)).await?)
                }
                .boxed()
            },
        },
        ResourceType {
            kind: "tasks",
            template: "coord://tasks/{id}{?repo_url,team,agent_id}",
            words: [
                "task",
                "One task in full",
                "A task of a team with its notes, its result and those of its dependencies",
            ],
            endpoint: "api/tasks/",
            depends_on_agent: true,
            read: |session, id, uri| {
                async move {
                    let caller = parse_query::<TaskQuery>(uri)?.caller();
                    as_json(&show_task(&session.app, &id, &caller, context_of(session)).await?)
                }
                .boxed()
            },
        },
    ],
    rules: &[],
};

/// The tools of teams and their tasks.
pub const TASKS: ToolGroup = ToolGroup("tasks");

/// The tools of teams and their messages.
pub const MESSAGES: ToolGroup = ToolGroup("messages");

const fn selectable(group: ToolGroup) -> SelectableGroup {
    SelectableGroup {
        group,
        is_default: true,
        replaces: &[],
    }
}

/// The definition of a tool. It has no schema of the result, because the result is text.
fn definition(name: &'static str, description: &'static str, mut arguments: JsonObject) -> Definition {
    if let Some(properties) = arguments.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| !UNLISTED.contains(&name.as_str()));
        for (name, property) in properties {
            if UNDESCRIBED.contains(&name.as_str())
                && let Some(property) = property.as_object_mut()
            {
                property.remove("description");
            }
        }
    }
    let annotations = match name {
        tool_names::TASK_LIST => ToolAnnotations::new().read_only(true),
        _ => ToolAnnotations::new().destructive(false),
    };
    Definition::new(name, description, arguments).with_annotations(annotations.open_world(false))
}

/// Arguments that mean the same in all tools.
const UNDESCRIBED: [&str; 6] = ["repo_url", "team", "agent_id", "branch", "agent_head", "new_repo_head"];

/// Arguments that the schema leaves out although tools accept them: few agents need them, and each one costs tokens.
const UNLISTED: [&str; 3] = ["base_head", "claim_files", "abandon"];

fn call<'a>(session: &'a Session, name: &'static str, arguments: &'a str) -> CallResult<'a> {
    async move {
        let result = match read_call(name, arguments).unwrap_or(Err(ApiError::Internal)) {
            Ok(call) => answer(session, &call).await,
            Err(error) => Err(error),
        };
        call_result(result.map(|answer| Outcome::Team(Box::new(answer))))
    }
    .boxed()
}

//! The tools and resources, as they are registered.

use coord_http::{Session, ToolGroup};
use coord_mcp::{CallResult, Outcome, ResourceType, Tool, ToolSet, arguments_of, as_json, query, result_of};
use coord_protocol::team_tools::{
    ClaimTaskCall, CreateTasksCall, ListTasksCall, ReadMessagesCall, SendMessageCall, TeamToolCall, UpdateTaskCall,
};
use coord_protocol::tool_names;
use coord_server::error::ApiError;
use coord_teams_server::{TaskQuery, TeamsQuery};
use futures::FutureExt;
use rmcp::model::{JsonObject, Tool as Definition, ToolAnnotations};
use serde_json::Value;

use super::arguments::read_call;
use super::calls::{answer, task, team};

/// The tool `$name` of `$groups`, whose arguments are a `$call`.
macro_rules! tool {
    ($name:expr, $groups:expr, $call:ty, $description:literal) => {
        Tool::new(
            $name,
            $groups,
            |name, offer| definition(name, $description, arguments_of::<$call>(offer)),
            |session, arguments| call(session, $name, arguments),
        )
    };
}
static TOOLS: [Tool; 7] = [
    tool!(
        tool_names::TEAM,
        &[ToolGroup::Tasks, ToolGroup::Messages],
        TeamToolCall,
        "Join a team to share tasks and messages; see its members, end its work."
    ),
    tool!(
        tool_names::TASK_CREATE,
        TASKS,
        CreateTasksCall,
        "Add tasks to the team: all or none."
    ),
    tool!(
        tool_names::TASK_LIST,
        TASKS,
        ListTasksCall,
        "List the team's tasks, or show one."
    ),
    tool!(
        tool_names::TASK_CLAIM,
        TASKS,
        ClaimTaskCall,
        "Take a task and its files before work: the next ready one, or id. Again: renews."
    ),
    tool!(
        tool_names::TASK_UPDATE,
        TASKS,
        UpdateTaskCall,
        "Complete your pushed task, release it, or edit one."
    ),
    tool!(
        tool_names::MESSAGE_SEND,
        MESSAGES,
        SendMessageCall,
        "Tell teammates something."
    ),
    tool!(
        tool_names::MESSAGE_READ,
        MESSAGES,
        ReadMessagesCall,
        "Read your messages. The last cursor proves that you have them."
    ),
];

/// The tools and resources of teams.
pub static TEAMS: ToolSet = ToolSet {
    tools: &TOOLS,
    resources: &[
        ResourceType {
            kind: "team",
            template: "coord://team/{team}{?repo_url}",
            words: [
                "team",
                "Who works together",
                "A team with its members, who is live, and an open shutdown",
            ],
            endpoint: "api/teams/",
            is_of_agent: false,
            read: |session, name, uri| {
                async move {
                    let sent = query::<TeamsQuery>(uri)?;
                    as_json(&team(session, &name, &sent.repo_url).await?)
                }
                .boxed()
            },
        },
        ResourceType {
            kind: "tasks",
            template: "coord://tasks/{id}{?repo_url,team,agent_id}",
            words: [
                "task",
                "What is to be done",
                "A task of a team with its notes, its result and those of its dependencies",
            ],
            endpoint: "api/tasks/",
            is_of_agent: true,
            read: |session, id, uri| {
                async move {
                    let sent = query::<TaskQuery>(uri)?.caller();
                    as_json(&task(session, &id, &sent).await?)
                }
                .boxed()
            },
        },
    ],
    rules: &[],
};

const TASKS: &[ToolGroup] = &[ToolGroup::Tasks];
const MESSAGES: &[ToolGroup] = &[ToolGroup::Messages];

/// The definition of a tool. A result is sent as text, without a schema. Caller and team are the same for all of them, and are not
/// described.
fn definition(name: &'static str, description: &'static str, mut arguments: JsonObject) -> Definition {
    let mut properties = arguments.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(properties) = &mut properties {
        properties.retain(|name, _| !SELDOM_SENT.contains(&name.as_str()));
    }
    for (name, property) in properties.into_iter().flatten() {
        if NEEDS_NO_WORDS.contains(&name.as_str())
            && let Some(property) = property.as_object_mut()
        {
            property.remove("description");
        }
    }
    let annotations = match name {
        tool_names::TASK_LIST => ToolAnnotations::new().read_only(true),
        _ => ToolAnnotations::new().destructive(false),
    };
    Definition::new(name, description, arguments).with_annotations(annotations.open_world(false))
}

/// Arguments with the same meaning as elsewhere.
const NEEDS_NO_WORDS: [&str; 6] = ["repo_url", "team", "agent_id", "branch", "agent_head", "new_repo_head"];

/// Arguments that are accepted but left out of the list, because few agents need them and each listed one costs tokens.
const SELDOM_SENT: [&str; 3] = ["base_head", "claim_files", "abandon"];

fn call<'a>(session: &'a Session, name: &'static str, arguments: &'a str) -> CallResult<'a> {
    async move {
        let call = read_call(name, arguments).unwrap_or(Err(ApiError::Internal));
        let answered = match call {
            Ok(call) => answer(session, &call).await,
            Err(error) => Err(error),
        };
        result_of(answered.map(|answer| Outcome::Team(Box::new(answer))))
    }
    .boxed()
}

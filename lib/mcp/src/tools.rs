//! The tools, as listed for clients.

use coord_http::ToolGroup;
use std::sync::LazyLock;

use coord_protocol::team_tools::{
    ClaimTaskCall, CreateTasksCall, ListTasksCall, ReadMessagesCall, SendMessageCall, TeamToolCall, UpdateTaskCall,
};
use coord_protocol::{
    AgentError, CheckRequest, CheckResponse, IntentResponse, PostRequest, PostResponse, SelectIntentCall,
    UpdateIntentCall,
};
use rmcp::model::{JsonObject, MetaObject, Tool as Definition, ToolAnnotations};
use serde_json::Value;

use super::offer::Offer;
#[cfg(feature = "teams")]
use super::opencode::OpenCodeTool;
use super::schema::{arguments_of, of_results};

static OF_DEPLOYMENT: LazyLock<Vec<Definition>> = LazyLock::new(|| definitions(Offer::Deployment));
static OF_WORKING_COPY: LazyLock<Vec<Definition>> = LazyLock::new(|| definitions(Offer::WorkingCopy));

/// The tools of `groups`, as clients get them.
pub(super) fn offered(offer: Offer, groups: &[ToolGroup]) -> impl Iterator<Item = &'static Definition> {
    let all = match offer {
        Offer::Deployment => &OF_DEPLOYMENT,
        Offer::WorkingCopy => &OF_WORKING_COPY,
    };
    let is_of = move |tool: &Tool| tool.is_of(groups);
    let chosen = Tool::ALL.iter().zip(all.iter()).filter(move |(tool, _)| is_of(tool));
    chosen.map(|(_, definition)| definition)
}

fn definitions(offer: Offer) -> Vec<Definition> {
    Tool::ALL.iter().map(|tool| tool.definition(offer)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `check_status`
    CheckStatus,
    /// `post_status`
    PostStatus,
    /// `select_active_intent`
    SelectActiveIntent,
    /// `update_intent`
    UpdateIntent,
    /// `team`
    Team,
    /// `task_create`
    TaskCreate,
    /// `task_list`
    TaskList,
    /// `task_claim`
    TaskClaim,
    /// `task_update`
    TaskUpdate,
    /// `message_send`
    MessageSend,
    /// `message_read`
    MessageRead,
    /// One of the plugin opencode-teams.
    #[cfg(feature = "teams")]
    OpenCode(OpenCodeTool),
}

impl Tool {
    pub(super) const ALL: &[Tool] = &[
        Tool::CheckStatus,
        Tool::PostStatus,
        #[cfg(feature = "intents")]
        Tool::SelectActiveIntent,
        #[cfg(feature = "intents")]
        Tool::UpdateIntent,
        #[cfg(feature = "teams")]
        Tool::Team,
        #[cfg(feature = "teams")]
        Tool::TaskCreate,
        #[cfg(feature = "teams")]
        Tool::TaskList,
        #[cfg(feature = "teams")]
        Tool::TaskClaim,
        #[cfg(feature = "teams")]
        Tool::TaskUpdate,
        #[cfg(feature = "teams")]
        Tool::MessageSend,
        #[cfg(feature = "teams")]
        Tool::MessageRead,
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::SpawnTeam),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::DiscoverTeams),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::JoinTeam),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::GetTeamInfo),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::SendMessage),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::BroadcastMessage),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::ReadMessages),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::PollInbox),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::CreateTask),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::GetTasks),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::ClaimTask),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::UpdateTask),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::RequestShutdown),
        #[cfg(feature = "teams")]
        Tool::OpenCode(OpenCodeTool::ApproveShutdown),
    ];

    /// Whether it is offered with one of `groups`.
    pub(super) fn is_of(self, groups: &[ToolGroup]) -> bool {
        let own: &[ToolGroup] = match self {
            Tool::CheckStatus | Tool::PostStatus => &[ToolGroup::Locks, ToolGroup::Files],
            Tool::SelectActiveIntent | Tool::UpdateIntent => &[ToolGroup::Locks, ToolGroup::Intents],
            Tool::Team => &[ToolGroup::Tasks, ToolGroup::Messages],
            Tool::TaskCreate | Tool::TaskList | Tool::TaskClaim | Tool::TaskUpdate => &[ToolGroup::Tasks],
            Tool::MessageSend | Tool::MessageRead => &[ToolGroup::Messages],
            #[cfg(feature = "teams")]
            Tool::OpenCode(_) => &[ToolGroup::OpenCode],
        };
        own.iter().any(|group| groups.contains(group))
    }

    /// The tool called `name`.
    pub(super) fn named(name: &str) -> Option<Tool> {
        Tool::ALL.iter().copied().find(|tool| tool.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::CheckStatus => "check_status",
            Tool::PostStatus => "post_status",
            Tool::SelectActiveIntent => "select_active_intent",
            Tool::UpdateIntent => "update_intent",
            Tool::Team => "team",
            Tool::TaskCreate => "task_create",
            Tool::TaskList => "task_list",
            Tool::TaskClaim => "task_claim",
            Tool::TaskUpdate => "task_update",
            Tool::MessageSend => "message_send",
            Tool::MessageRead => "message_read",
            #[cfg(feature = "teams")]
            Tool::OpenCode(tool) => tool.name(),
        }
    }

    /// The definition for clients of `offer`.
    fn definition(self, offer: Offer) -> Definition {
        // Neither reaches beyond the locks of Coord, and a claim that is made twice is one claim.
        let annotations = ToolAnnotations::new()
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        match self {
            #[cfg(feature = "teams")]
            Tool::OpenCode(tool) => tool.definition(offer),
            Tool::CheckStatus => Definition::new(
                self.name(),
                "Call before you plan an edit: who else works on these files or on files that import them. Changes nothing.",
                arguments_of::<CheckRequest>(offer),
            )
            .with_title("Check files")
            .with_meta(always_loaded())
            .with_raw_output_schema(of_results::<CheckResponse, AgentError>().into())
            .with_annotations(annotations.read_only(true)),
            Tool::PostStatus => Definition::new(
                self.name(),
                match offer {
                    Offer::Deployment => {
                        "Claim files before you edit them: WRITING, or READING to build on them; all or none. Again within 4 minutes \
                         to keep them. OPEN once pushed. Follow orchestration.action."
                    }
                    Offer::WorkingCopy => {
                        "Claim files before you edit them: WRITING, or READING to build on them; all or none. OPEN once pushed. Do \
                         what orchestration.action says."
                    }
                },
                arguments_of::<PostRequest>(offer),
            )
            .with_title("Claim or release files")
            .with_meta(always_loaded())
            .with_raw_output_schema(of_results::<PostResponse, AgentError>().into())
            .with_annotations(annotations.read_only(false)),
            Tool::SelectActiveIntent => Definition::new(
                self.name(),
                "Select the intent that you work on: its scope, constraints and criteria. Without intent_id: lists those that can be selected.",
                arguments_of::<SelectIntentCall>(offer),
            )
            .with_title("Select an intent")
            .with_raw_output_schema(results_about_an_intent().into())
            .with_annotations(annotations.read_only(false)),
            Tool::UpdateIntent => Definition::new(
                self.name(),
                "Write a new intent, mark criteria as met with proof, complete, abandon or block one.",
                arguments_of::<UpdateIntentCall>(offer),
            )
            .with_title("Update an intent")
            .with_raw_output_schema(results_about_an_intent().into())
            .with_annotations(annotations.read_only(false).idempotent(false)),
            Tool::Team
            | Tool::TaskCreate
            | Tool::TaskList
            | Tool::TaskClaim
            | Tool::TaskUpdate
            | Tool::MessageSend
            | Tool::MessageRead => {
                let (description, arguments) = self.of_teams(offer);
                let annotations = match self {
                    Tool::TaskList => ToolAnnotations::new().read_only(true),
                    _ => ToolAnnotations::new().destructive(false),
                };
                Definition::new(self.name(), description, arguments).with_annotations(annotations.open_world(false))
            }
        }
    }
}

impl Tool {
    /// Description and arguments of a tool of teams. A result is sent as text, without a schema. Caller and team are the same for
    /// all of them, and are not described.
    fn of_teams(self, offer: Offer) -> (&'static str, JsonObject) {
        let (description, mut arguments) = match self {
            Tool::Team => (
                "Join a team to share tasks and messages; see its members, end its work.",
                arguments_of::<TeamToolCall>(offer),
            ),
            Tool::TaskCreate => (
                "Add tasks to the team: all or none.",
                arguments_of::<CreateTasksCall>(offer),
            ),
            Tool::TaskList => (
                "List the team's tasks, or show one.",
                arguments_of::<ListTasksCall>(offer),
            ),
            Tool::TaskClaim => (
                "Take a task and its files before work: the next ready one, or id. Again: renews.",
                arguments_of::<ClaimTaskCall>(offer),
            ),
            Tool::TaskUpdate => (
                "Complete your pushed task, release it, or edit one.",
                arguments_of::<UpdateTaskCall>(offer),
            ),
            Tool::MessageSend => ("Tell teammates something.", arguments_of::<SendMessageCall>(offer)),
            _ => (
                "Read your messages. The last cursor proves that you have them.",
                arguments_of::<ReadMessagesCall>(offer),
            ),
        };
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
        (description, arguments)
    }
}

/// Claude Code hides the tools of servers behind a search, but for those that say so.
fn always_loaded() -> MetaObject {
    MetaObject(JsonObject::from_iter([(ALWAYS_LOAD.to_owned(), Value::Bool(true))]))
}

/// The key by which it knows them.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// Arguments of the tools of teams with the same meaning as elsewhere.
const NEEDS_NO_WORDS: [&str; 6] = ["repo_url", "team", "agent_id", "branch", "agent_head", "new_repo_head"];

/// Arguments that are accepted but left out of the list, because few agents need them and each listed one costs tokens.
const SELDOM_SENT: [&str; 3] = ["base_head", "claim_files", "abandon"];

/// The schema of the results about an intent. A model reads the intent itself in the text.
fn results_about_an_intent() -> JsonObject {
    let mut schema = of_results::<IntentResponse, AgentError>();
    let intent = schema
        .get_mut("properties")
        .and_then(|properties| properties.get_mut("intent"));
    if let Some(intent) = intent.and_then(Value::as_object_mut) {
        intent.remove("properties");
        intent.remove("required");
    }
    schema
}

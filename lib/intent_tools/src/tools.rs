//! The definitions of the tools and resources.

use coord_intents_server::operations::{intents, ledger};
use coord_intents_server::{IntentsQuery, LedgerQuery};
use coord_mcp::{
    ResourceType, Tool, ToolGroup, ToolHost, ToolSet, annotations, argument_schema, as_json, parse_query, result_schema,
};
use coord_protocol::tool_names::{SELECT_ACTIVE_INTENT, UPDATE_INTENT};
use coord_protocol::{AgentError, IntentResponse, SelectIntentCall, UpdateIntentCall};
use futures::FutureExt;
use rmcp::model::{JsonObject, Tool as Definition};
use serde_json::Value;

use super::calls::call;

static TOOLS: [Tool; 2] = [
    Tool::new(SELECT_ACTIVE_INTENT, GROUPS, select, |session, arguments| {
        call(session, SELECT_ACTIVE_INTENT, arguments).boxed()
    }),
    Tool::new(UPDATE_INTENT, GROUPS, update, |session, arguments| {
        call(session, UPDATE_INTENT, arguments).boxed()
    }),
];

/// The tools, resources and rules of intents and their ledger.
pub static INTENTS: ToolSet = ToolSet {
    groups: &[],
    tools: &TOOLS,
    resources: &[
        ResourceType {
            kind: "intents",
            template: "coord://intents{?repo_url,view}",
            words: [
                "intents",
                "Why files are changed",
                "The intents of a repository; view=state: with the files that they own, and all locks",
            ],
            endpoint: "api/intents",
            depends_on_agent: false,
            read: |session, _, uri| {
                async move {
                    let query = parse_query::<IntentsQuery>(uri)?;
                    let request = query.parse(session.caller.clone(), session.agent.as_deref())?;
                    as_json(&intents::list_intents(&session.app, request).await?)
                }
                .boxed()
            },
        },
        ResourceType {
            kind: "ledger",
            template: "coord://ledger{?repo_url,after,limit,intent,file,last}",
            words: [
                "ledger",
                "What was done",
                "The lines of the ledger: all, those about an intent or a file, or the last ones",
            ],
            endpoint: "api/ledger",
            depends_on_agent: false,
            read: |session, _, uri| {
                async move {
                    let query = parse_query::<LedgerQuery>(uri)?;
                    let request = query.parse(session.caller.clone(), session.agent.as_deref())?;
                    as_json(&ledger::page(&session.app, request).await?)
                }
                .boxed()
            },
        },
    ],
    rules: &[
        "A repository may have intents, which say why files change and how far work may reach. Select one (select_active_intent) before \
         you claim under it; for files beyond its scope write a new one that supplements it.",
    ],
};

/// The group of these tools alone. Callers cannot select it.
pub const INTENT_TOOLS: ToolGroup = ToolGroup("intents");

const GROUPS: &[ToolGroup] = &[ToolGroup::LOCKS, INTENT_TOOLS];

fn select(name: &'static str, host: ToolHost) -> Definition {
    Definition::new(
        name,
        "Select the intent that you work on: its scope, constraints and criteria. Without intent_id: lists those that can be selected.",
        argument_schema::<SelectIntentCall>(host),
    )
    .with_title("Select an intent")
    .with_raw_output_schema(intent_result_schema().into())
    .with_annotations(annotations().read_only(false))
}

fn update(name: &'static str, host: ToolHost) -> Definition {
    Definition::new(
        name,
        "Write a new intent, mark criteria as met with proof, complete, abandon or block one.",
        argument_schema::<UpdateIntentCall>(host),
    )
    .with_title("Update an intent")
    .with_raw_output_schema(intent_result_schema().into())
    .with_annotations(annotations().read_only(false).idempotent(false))
}

/// The schema of the results. It leaves out the parts of an intent, because a model reads the intent in the text.
fn intent_result_schema() -> JsonObject {
    let mut schema = result_schema::<IntentResponse, AgentError>();
    let intent = schema
        .get_mut("properties")
        .and_then(|properties| properties.get_mut("intent"));
    if let Some(intent) = intent.and_then(Value::as_object_mut) {
        intent.remove("properties");
        intent.remove("required");
    }
    schema
}

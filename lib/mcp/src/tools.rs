//! The tools of the core, and the list of all tools.

use coord_http::body::{parse_check, parse_post};
use coord_protocol::tool_names::{CHECK_STATUS, POST_STATUS};
use coord_protocol::{AgentError, CheckRequest, CheckResponse, PostRequest, PostResponse};
use futures::FutureExt;
use rmcp::model::{JsonObject, MetaObject, Tool as Definition, ToolAnnotations};
use serde_json::Value;

use super::arguments::Arguments;
use super::operations;
use super::schema::{argument_schema, result_schema};
use super::tool_host::ToolHost;
use super::tool_set::{Tool, ToolGroup, ToolSets};

static CORE: [Tool; 2] = [
    Tool::new(
        CHECK_STATUS,
        &[ToolGroup::LOCKS, ToolGroup::FILES],
        check_status,
        |session, json| operations::call(session, parse_check(json.as_bytes()).map(Arguments::Check)).boxed(),
    ),
    Tool::new(
        POST_STATUS,
        &[ToolGroup::LOCKS, ToolGroup::FILES],
        post_status,
        |session, json| operations::call(session, parse_post(json.as_bytes()).map(Arguments::Post)).boxed(),
    ),
];

pub(super) fn tools_in(sets: ToolSets, groups: &[ToolGroup]) -> impl Iterator<Item = &'static Tool> + use<'_> {
    let all = CORE.iter().chain(sets.iter().flat_map(|set| set.tools));
    all.filter(|tool| tool.is_in(groups))
}

fn check_status(name: &'static str, host: ToolHost) -> Definition {
    Definition::new(
        name,
        "Call before you plan an edit: who else works on these files or on files that import them. Changes nothing.",
        argument_schema::<CheckRequest>(host),
    )
    .with_title("Check files")
    .with_meta(always_loaded())
    .with_raw_output_schema(result_schema::<CheckResponse, AgentError>().into())
    .with_annotations(annotations().read_only(true))
}

fn post_status(name: &'static str, host: ToolHost) -> Definition {
    let description = match host {
        ToolHost::Deployment => {
            "Claim files before you edit them: WRITING, or READING to build on them; all or none. Again within 4 minutes \
             to keep them. OPEN once pushed. Follow orchestration.action."
        }
        ToolHost::WorkingCopy => {
            "Claim files before you edit them: WRITING, or READING to build on them; all or none. OPEN once pushed. Do \
             what orchestration.action says."
        }
    };
    Definition::new(name, description, argument_schema::<PostRequest>(host))
        .with_title("Claim or release files")
        .with_meta(always_loaded())
        .with_raw_output_schema(result_schema::<PostResponse, AgentError>().into())
        .with_annotations(annotations().read_only(false))
}

/// The annotations of a tool that reaches nothing beyond Coord. It is idempotent: two equal claims are one claim.
pub fn annotations() -> ToolAnnotations {
    ToolAnnotations::new()
        .destructive(false)
        .idempotent(true)
        .open_world(false)
}

/// Claude Code loads a tool with this mark at once. Agents have to search for the others.
fn always_loaded() -> MetaObject {
    MetaObject(JsonObject::from_iter([(ALWAYS_LOAD.to_owned(), Value::Bool(true))]))
}

const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

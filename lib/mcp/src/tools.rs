//! The tools of the heart, and all tools as listed for clients.

use coord_http::ToolGroup;
use coord_http::body::{parse_check, parse_post};

use coord_protocol::tool_names::{CHECK_STATUS, POST_STATUS};
use coord_protocol::{AgentError, CheckRequest, CheckResponse, PostRequest, PostResponse};
use futures::FutureExt;
use rmcp::model::{JsonObject, MetaObject, Tool as Definition, ToolAnnotations};
use serde_json::Value;

use super::arguments::Arguments;
use super::offer::Offer;
use super::operations;
use super::schema::{arguments_of, of_results};
use super::tool_set::{Tool, ToolSets};

static HEART: [Tool; 2] = [
    Tool::new(
        CHECK_STATUS,
        &[ToolGroup::Locks, ToolGroup::Files],
        check_status,
        |session, sent| operations::call(session, parse_check(sent.as_bytes()).map(Arguments::Check)).boxed(),
    ),
    Tool::new(
        POST_STATUS,
        &[ToolGroup::Locks, ToolGroup::Files],
        post_status,
        |session, sent| operations::call(session, parse_post(sent.as_bytes()).map(Arguments::Post)).boxed(),
    ),
];

/// The tools of `groups`.
pub(super) fn offered_tools(sets: ToolSets, groups: &[ToolGroup]) -> impl Iterator<Item = &'static Tool> + use<'_> {
    let all = HEART.iter().chain(sets.iter().flat_map(|set| set.tools));
    all.filter(|tool| tool.is_of(groups))
}

fn check_status(name: &'static str, offer: Offer) -> Definition {
    Definition::new(
        name,
        "Call before you plan an edit: who else works on these files or on files that import them. Changes nothing.",
        arguments_of::<CheckRequest>(offer),
    )
    .with_title("Check files")
    .with_meta(always_loaded())
    .with_raw_output_schema(of_results::<CheckResponse, AgentError>().into())
    .with_annotations(annotations().read_only(true))
}

fn post_status(name: &'static str, offer: Offer) -> Definition {
    let description = match offer {
        Offer::Deployment => {
            "Claim files before you edit them: WRITING, or READING to build on them; all or none. Again within 4 minutes \
             to keep them. OPEN once pushed. Follow orchestration.action."
        }
        Offer::WorkingCopy => {
            "Claim files before you edit them: WRITING, or READING to build on them; all or none. OPEN once pushed. Do \
             what orchestration.action says."
        }
    };
    Definition::new(name, description, arguments_of::<PostRequest>(offer))
        .with_title("Claim or release files")
        .with_meta(always_loaded())
        .with_raw_output_schema(of_results::<PostResponse, AgentError>().into())
        .with_annotations(annotations().read_only(false))
}

/// Those of a tool that reaches nothing beyond Coord. A claim that is made twice is one claim.
pub fn annotations() -> ToolAnnotations {
    ToolAnnotations::new()
        .destructive(false)
        .idempotent(true)
        .open_world(false)
}

/// Claude Code hides the tools of servers behind a search, but for those that say so.
fn always_loaded() -> MetaObject {
    MetaObject(JsonObject::from_iter([(ALWAYS_LOAD.to_owned(), Value::Bool(true))]))
}

/// The key by which it knows them.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

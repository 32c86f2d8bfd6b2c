//! Fields and headers that several operations have.

use coord_protocol::schema::{AgentId, EventId, one_of};
use utoipa::IntoParams;
use utoipa::openapi::Ref;
use utoipa::openapi::schema::{Array, ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, Type};

use coord_scan::ImportKind;

/// Headers that say who asks, on the endpoints of agents.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it stands for headers, which the handlers read themselves")]
pub struct AgentHeaders {
    /// The calling agent, if one person runs several; a field `agent_id` takes precedence.
    #[param(rename = "X-Coord-Agent", value_type = AgentId, required = false)]
    agent: Option<String>,
}

/// Headers of a request for a stream of events.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it stands for headers, which the handlers read themselves")]
pub struct StreamHeaders {
    /// The newest `id` or `cursor` that the client has, as browsers send it. It counts before `last_event_id`.
    #[param(rename = "Last-Event-ID", value_type = EventId, required = false)]
    last_event_id: Option<String>,
}

/// Headers of a conditional request.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it stands for headers, which the handlers read themselves")]
pub struct ConditionalHeaders {
    /// The `ETag` of an earlier response: 304 while that response is current.
    #[param(rename = "If-None-Match", required = false, nullable = false)]
    if_none_match: Option<String>,
}

/// Headers of a delivery.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "it stands for headers, which the handler reads itself")]
pub struct WebhookHeaders {
    /// The type of the event, such as `push`.
    #[param(rename = "X-GitHub-Event", required = true)]
    event: String,
}

/// Forms of an import.
pub fn import_kinds() -> Array {
    let kinds: Vec<&str> = ImportKind::ALL.into_iter().map(ImportKind::name).collect();
    ArrayBuilder::new()
        .items(one_of(&kinds, "A form of an import"))
        .min_items(Some(1))
        .description(Some("The forms of the import; only in a graph around a focus"))
        .build()
}

/// The commit of a graph.
pub fn version() -> Schema {
    OneOfBuilder::new()
        .item(Ref::from_schema_name("CommitSha"))
        .item(ObjectBuilder::new().schema_type(Type::Null))
        .description(Some("The commit of the graph; `null` if there is none yet"))
        .build()
        .into()
}

/// `type` of a node.
pub fn file() -> Object {
    one_of(&["file"], "Always `file`")
}

/// `holder` of a question about locks.
pub fn me() -> Object {
    one_of(
        &["me"],
        "`me`: only the caller's locks, those of all of its agents unless `agent_id` names one",
    )
}

/// `type` of an edge.
pub fn import() -> Object {
    one_of(&["import"], "Always `import`")
}

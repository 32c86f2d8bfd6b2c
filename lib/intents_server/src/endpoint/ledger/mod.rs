//! `/api/ledger`: the recorded actions of agents. The function of `intents` serves it and all paths below.
//!
//! - [`checkpoint`], [`verify`], [`map`]: the paths below
//! - `query`, `answers`: the queries and the responses of all of these

mod answers;
pub(super) mod checkpoint;
pub(super) mod map;
mod query;
pub(super) mod verify;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use coord_protocol::{LedgerResponse, RecordRequest, RecordResponse};
use utoipa::OpenApi;

use crate::examples;
use crate::operations::ledger::{page, record};
use answers::{LineResponses, RecordResponses, respond};
use coord_http::body::read_request;
use coord_http::headers::agent_header;
use coord_http::json::Json;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;
pub use query::LedgerQuery;
use query::unreadable;

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_ledger).post(post_ledger)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    paths(get_ledger, post_ledger),
    components(schemas(LedgerResponse, RecordRequest, RecordResponse))
)]
pub(super) struct Document;

/// Read the ledger.
///
/// `GET /api/ledger?repo_url=URL[&after=SEQ|&last=NUMBER][&limit=NUMBER][&intent=ID][&file=PATH]`. Lines are given as they are, so that
/// their chain can be verified. To go on, send `next` as `after`.
#[utoipa::path(
    get,
    path = "/api/ledger",
    tag = "agents",
    params(LedgerQuery, AgentHeaders),
    responses(LineResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_ledger(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<LedgerQuery>, QueryRejection>,
) -> Response {
    let response = async {
        let caller = app.authenticator.authenticate(&headers).await?;
        let Query(query) = query.map_err(unreadable)?;
        page(&app, query.parse(caller, agent_header(&headers))?).await
    };
    respond(response.await.map(Json))
}

/// Record actions.
///
/// A changed file is recorded as a success under the caller's lock for writing, and as a failure without. Entries that are sent twice
/// within a day are recorded once, by their `trace_id`.
#[utoipa::path(
    post,
    path = "/api/ledger",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = RecordRequest, example = json!(examples::record_request())),
    responses(RecordResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn post_ledger(State(app): State<Arc<App>>, headers: HeaderMap, request: Request<Body>) -> Response {
    let response = async {
        let (caller, body): (_, RecordRequest) = read_request(&app, &headers, request).await?;
        record(&app, &body, caller, agent_header(&headers)).await
    };
    respond(response.await.map(Json))
}

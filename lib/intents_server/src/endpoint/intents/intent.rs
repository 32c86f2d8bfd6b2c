//! `/api/intents/{id}`: one intent.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use coord_protocol::EditIntentRequest;
use coord_protocol::schema::IntentId;
use utoipa::OpenApi;

use super::answers::{EditResponses, IntentResponses, respond};
use super::query::{IntentQuery, unreadable};
use crate::operations::intents::{edit_intent, read_intent};
use coord_http::body::read_request;
use coord_http::headers::agent_header;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;

pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_intent).patch(patch_intent)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(get_intent, patch_intent), components(schemas(EditIntentRequest)))]
pub(crate) struct Document;

/// Read an intent.
///
/// `GET /api/intents/{id}?repo_url=URL[&view=context][&branch=NAME]`.
#[utoipa::path(
    get,
    path = "/api/intents/{id}",
    tag = "agents",
    params(("id" = IntentId, Path, description = "The intent"), IntentQuery, AgentHeaders),
    responses(IntentResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_intent(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    query: Result<Query<IntentQuery>, QueryRejection>,
) -> Response {
    let response = async {
        let caller = app.authenticator.authenticate(&headers).await?;
        let Query(query) = query.map_err(unreadable)?;
        read_intent(&app, &id, query.parse(caller, agent_header(&headers))?).await
    };
    respond(response.await)
}

/// Change an intent.
///
/// Omitted fields stay the same. Scope, branch and `supplements` are frozen once it has begun; for more, write a new intent that
/// supplements it. Raising or removing a limit of its budget takes a person then.
#[utoipa::path(
    patch,
    path = "/api/intents/{id}",
    tag = "agents",
    params(("id" = IntentId, Path, description = "The intent"), AgentHeaders),
    request_body(content = EditIntentRequest),
    responses(EditResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn patch_intent(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response {
    let response = async {
        let (caller, body): (_, EditIntentRequest) = read_request(&app, &headers, request).await?;
        edit_intent(&app, &id, &body, caller, agent_header(&headers)).await
    };
    respond(response.await)
}

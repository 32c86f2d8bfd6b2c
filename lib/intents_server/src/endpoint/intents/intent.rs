//! `/api/intents/{id}`: one intent.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use coord_protocol::schema::IntentId;
use coord_protocol::{EditIntentRequest, IntentResponse};
use utoipa::OpenApi;

use super::answers::{EditResponses, IntentResponses, respond};
use super::query::{self, IntentQuery};
use crate::operations::intents::{edit_intent, read_intent};
use coord_http::body::read_json;
use coord_http::headers::agent_header;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;
use coord_server::error::ApiError;

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
    query: Result<Query<IntentQuery>, axum::extract::rejection::QueryRejection>,
) -> Response {
    respond(read(&app, &id, &headers, query.ok()).await)
}

async fn read(
    app: &App,
    id: &str,
    headers: &HeaderMap,
    query: Option<Query<IntentQuery>>,
) -> Result<IntentResponse, ApiError> {
    let caller = app.authenticator.authenticate(headers).await?;
    let Query(query) = query.ok_or_else(query::unreadable)?;
    read_intent(app, id, query.parse(caller, agent_header(headers))?).await
}

/// Change an intent.
///
/// Members that are left out stay. Scope, branch and `supplements` are frozen once it has begun; more is a new intent that
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
async fn patch_intent(State(app): State<Arc<App>>, Path(id): Path<String>, request: Request<Body>) -> Response {
    respond(change(&app, &id, request).await)
}

async fn change(app: &App, id: &str, request: Request<Body>) -> Result<IntentResponse, ApiError> {
    let headers = request.headers().clone();
    let caller = app.authenticator.authenticate(&headers).await?;
    let body: EditIntentRequest = read_json(request).await?;
    edit_intent(app, id, &body, caller, agent_header(&headers)).await
}

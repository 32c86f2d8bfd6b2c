//! `POST /api/intents/{id}/usage`: the costs of the work on an intent.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use coord_protocol::UsageRequest;
use coord_protocol::schema::IntentId;
use utoipa::OpenApi;

use super::answers::{UsageResponses, respond};
use crate::operations::intents::use_intent;
use coord_http::body::read_request;
use coord_http::headers::agent_header;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;

pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    post(post_usage)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(post_usage), components(schemas(UsageRequest)))]
pub(crate) struct Document;

/// Report the costs of the work on an intent.
///
/// A granted tool call counts as a turn; tokens are the running total of a session. From 80 % of a limit on there is a
/// warning. At the limit the next call is refused, and the intent is BLOCKED.
#[utoipa::path(
    post,
    path = "/api/intents/{id}/usage",
    tag = "agents",
    params(("id" = IntentId, Path, description = "The intent"), AgentHeaders),
    request_body(content = UsageRequest),
    responses(UsageResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn post_usage(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response {
    let response = async {
        let (caller, body): (_, UsageRequest) = read_request(&app, &headers, request).await?;
        use_intent(&app, &id, &body, caller, agent_header(&headers)).await
    };
    respond(response.await)
}

//! `POST /api/ledger/verify`: compares files with their records.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use coord_protocol::{VerifyRequest, VerifyResponse};
use utoipa::OpenApi;

use super::answers::{VerifyResponses, respond};
use crate::examples;
use crate::operations::ledger::verify;
use coord_http::body::read_json;
use coord_http::headers::agent_header;
use coord_http::json::Json;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;
use coord_server::error::ApiError;

pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    post(post_verify)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(post_verify), components(schemas(VerifyRequest, VerifyResponse)))]
pub(crate) struct Document;

/// Compare files with their records.
///
/// It takes the right to read and changes nothing.
#[utoipa::path(
    post,
    path = "/api/ledger/verify",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = VerifyRequest, example = json!(examples::verify_request())),
    responses(VerifyResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn post_verify(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    respond(compare(&app, request).await.map(Json))
}

async fn compare(app: &App, request: Request<Body>) -> Result<VerifyResponse, ApiError> {
    let headers = request.headers().clone();
    let caller = app.authenticator.authenticate(&headers).await?;
    let body: VerifyRequest = read_json(request).await?;
    verify(app, &body, caller, agent_header(&headers)).await
}

//! `POST /api/ledger/verify`: compares files with their records.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use coord_protocol::{VerifyRequest, VerifyResponse};
use utoipa::OpenApi;

use super::answers::{VerifyResponses, respond};
use crate::examples;
use crate::operations::ledger::verify;
use coord_http::body::read_request;
use coord_http::headers::agent_header;
use coord_http::json::Json;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;

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
async fn post_verify(State(app): State<Arc<App>>, headers: HeaderMap, request: Request<Body>) -> Response {
    let response = async {
        let (caller, body): (_, VerifyRequest) = read_request(&app, &headers, request).await?;
        verify(&app, &body, caller, agent_header(&headers)).await
    };
    respond(response.await.map(Json))
}

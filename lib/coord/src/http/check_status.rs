//! `POST /api/check_status`: what stands in the way of editing some files.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::{IntoResponse, Response};
use coord_protocol::{CheckRequest, CheckResponse};

use super::body::read_json;
use super::headers::agent_header;
use super::openapi::fields::AgentHeaders;
use super::openapi::{CheckAnswers, examples};
use crate::app::App;
use crate::domain::LockMode;
use crate::error::ApiError;
use crate::operations::{CheckError, WorkRequest, check, offline_check};

/// What stands in the way of editing some files.
///
/// Asks, and changes nothing. Send it before an edit is planned, and do what `orchestration` says.
#[utoipa::path(
    post,
    path = "/api/check_status",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = CheckRequest, example = json!(examples::check_request())),
    responses(CheckAnswers),
    security(("bearer" = []))
)]
pub(super) async fn check_status(State(app): State<App>, request: Request<Body>) -> Response {
    match answer(&app, request).await {
        Ok(response) => Json(response).into_response(),
        Err(CheckError { error, head }) if error.is_offline() => error.respond(offline_check(&error, head.as_ref())),
        Err(CheckError { error, .. }) => error.respond_to_agent(),
    }
}

async fn answer(app: &App, request: Request<Body>) -> Result<CheckResponse, CheckError> {
    let headers = request.headers().clone();
    let caller = app.authenticator.authenticate(&headers).await.map_err(ApiError::from)?;
    let sent: CheckRequest = read_json(request).await?;
    let request = WorkRequest::of_check(&sent, caller, agent_header(&headers))?;
    check(app, &request, sent.intent.unwrap_or(LockMode::Writing)).await
}

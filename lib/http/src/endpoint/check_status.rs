//! `POST /api/check_status`: locks that block an edit of some files.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use coord_protocol::schema::one_of;
use coord_protocol::{CheckRequest, CheckResponse, ErrorCode};
use utoipa::openapi::{RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi};

use crate::body::{parse_check, read_json_bytes};
use crate::error::Respond;
use crate::headers::agent_header;
use crate::json::Json;
use crate::openapi::errors::{AGENT_CAUSES, Reader, errors, finish, with_error};
use crate::openapi::examples;
use crate::openapi::fields::AgentHeaders;
use crate::openapi::responses::{narrow, response};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::{CheckError, Refusal, check_as_sent};

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    post(check_status)
}

/// The response to `error`: a complete one, OFFLINE, if store or source do not respond.
pub(super) fn refuse(error: &ApiError) -> Response {
    error.respond(Refusal::of_check(error, None))
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(check_status), components(schemas(CheckResponse)))]
pub(super) struct Document;

/// Check which locks block an edit of some files.
///
/// Changes nothing. Call it before an edit is planned, and follow `orchestration`.
#[utoipa::path(
    post,
    path = "/api/check_status",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = CheckRequest, example = json!(examples::check_request())),
    responses(CheckResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn check_status(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    match check(&app, request).await {
        Ok(response) => Json(response).into_response(),
        Err(CheckError { error, head }) => error.respond(Refusal::of_check(&error, head.as_ref())),
    }
}

async fn check(app: &App, request: Request<Body>) -> Result<CheckResponse, CheckError> {
    let headers = request.headers().clone();
    let caller = app.authenticator.authenticate(&headers).await.map_err(ApiError::from)?;
    let body = parse_check(&read_json_bytes(request).await?)?;
    check_as_sent(app, &body, caller, agent_header(&headers)).await
}

/// Its responses in the OpenAPI document.
enum CheckResponses {}

impl IntoResponses for CheckResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(
            &AGENT_CAUSES,
            Reader::Agent,
            "POST",
            Some(("CheckResponse", examples::offline_check)),
        );
        let status = one_of(
            &["OK", "STALE", "CONFLICT"],
            "CONFLICT: someone else's lock blocks the edit, or an intent refuses it. STALE: the working copy is \
             behind. OK: neither",
        );
        let content = narrow("CheckResponse", "status", status, &[]).example(Some(examples::check_conflict()));
        answers.insert(
            200,
            response("The locks that block the edit, and the next step", content),
        );
        answers.insert(
            409,
            response(
                "LOCK_TAKEN (STOP): a person force-released a lock of the caller",
                with_error(&["AgentError"], &[ErrorCode::LockTaken]),
            ),
        );
        finish(answers)
    }
}

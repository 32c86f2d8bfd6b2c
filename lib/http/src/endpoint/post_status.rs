//! `POST /api/post_status`: claim files, renew a claim, or release files.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use coord_protocol::{ErrorCode, PostRequest, PostResponse};
use utoipa::openapi::{RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi};

use crate::body::{parse_post, read_json_bytes};
use crate::error::{Respond, status_of};
use crate::headers::agent_header;
use crate::json::Json;
use crate::openapi::errors::{AGENT_CAUSES, Cause, Reader, errors, finish, with_error};
use crate::openapi::examples;
use crate::openapi::fields::AgentHeaders;
use crate::openapi::responses::{just, narrow, response};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::{self, Refusal};

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    post(post_status)
}

/// The response to `error`: a complete one if store or source do not respond, or the lock rules refuse the request.
pub(super) fn refuse(error: &ApiError) -> Response {
    error.respond(Refusal::of_post(error))
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(post_status), components(schemas(PostResponse)))]
pub(super) struct Document;

/// Claim files, renew a claim, or release files.
///
/// All of the files are claimed, or none. A claim expires after 300 seconds, or the time that the operator has set;
/// claiming again renews it.
#[utoipa::path(
    post,
    path = "/api/post_status",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = PostRequest, example = json!(examples::post_request())),
    responses(PostResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn post_status(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    match claim_or_release(&app, request).await {
        Ok(response) => {
            let status = response
                .error
                .as_ref()
                .map_or(StatusCode::OK, |error| status_of(error.error));
            (status, Json(response)).into_response()
        }
        Err(error) => refuse(&error),
    }
}

async fn claim_or_release(app: &App, request: Request<Body>) -> Result<PostResponse, ApiError> {
    let headers = request.headers().clone();
    let caller = app.authenticator.authenticate(&headers).await?;
    let body = parse_post(&read_json_bytes(request).await?)?;
    operations::post(app, &body, caller, agent_header(&headers)).await
}

/// Its responses in the OpenAPI document.
enum PostResponses {}

impl IntoResponses for PostResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(
            &[&AGENT_CAUSES[..], &[Cause::Person]].concat(),
            Reader::Agent,
            "POST",
            Some(("PostResponse", examples::offline_post)),
        );
        let granted = narrow("PostResponse", "success", just(true), &["locks"]).example(Some(examples::post_granted()));
        answers.insert(200, response("Claimed, renewed, or released", granted));
        let codes = [
            ErrorCode::LockConflict,
            ErrorCode::LockLost,
            ErrorCode::LockTaken,
            ErrorCode::NotPushed,
            ErrorCode::StaleHead,
            ErrorCode::TooManyLocks,
            ErrorCode::IntentRequired,
            ErrorCode::IntentNotActive,
            ErrorCode::IntentBlocked,
            ErrorCode::ScopeViolation,
            ErrorCode::FileOwned,
            ErrorCode::BudgetExhausted,
            ErrorCode::CircuitOpen,
        ];
        let refused = with_error(&["PostResponse", "RefusalCode"], &codes).example(Some(examples::post_refused()));
        let description = "Refused by the rules; nothing was changed. LOCK_CONFLICT (WAIT): someone else's lock \
                           blocks the claim. STALE_HEAD (PULL): the working copy is behind. NOT_PUSHED (PUSH): the \
                           changes are not pushed. LOCK_LOST (STOP): a lock belongs to another holder now. \
                           LOCK_TAKEN (STOP): a person force-released a lock of the caller. TOO_MANY_LOCKS: the \
                           caller has too many (STOP), or a file or the repository has (WAIT). INTENT_REQUIRED, \
                           INTENT_NOT_ACTIVE, INTENT_BLOCKED, SCOPE_VIOLATION, BUDGET_EXHAUSTED, CIRCUIT_OPEN \
                           (STOP): an intent refuses it. FILE_OWNED (SWITCH_TASK): another intent owns a file";
        answers.insert(409, response(description, refused));
        finish(answers)
    }
}

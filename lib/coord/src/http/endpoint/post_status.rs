//! `POST /api/post_status`: claim files, renew a claim, or release files.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use coord_protocol::ErrorCode;
use coord_protocol::{PostRequest, PostResponse};
use utoipa::openapi::{RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi};

use crate::app::App;
use crate::error::ApiError;
use crate::http::body::read_json;
use crate::http::error::status_of;
use crate::http::headers::agent_header;
use crate::http::openapi::errors::{OF_AGENTS, Reader, errors, finish, with_error};
use crate::http::openapi::examples;
use crate::http::openapi::fields::AgentHeaders;
use crate::http::openapi::responses::{just, narrowed, response};
use crate::operations::{self, Refusal};

/// Its methods.
pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    post(post_status)
}

/// The response to `error`: a complete one if store or source do not respond, or there is no room for more locks.
pub(super) fn refuse(error: &ApiError) -> Response {
    error.respond(Refusal::of_post(error))
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(post_status), components(schemas(PostResponse)))]
pub(super) struct Document;

/// Claim files, renew a claim, or give files back.
///
/// All of the files or none. A claim lapses by itself, after 300 seconds unless the operator has set another time; claiming again
/// renews it.
#[utoipa::path(
    post,
    path = "/api/post_status",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = PostRequest, example = json!(examples::post_request())),
    responses(PostAnswers),
    security(("bearer" = []))
)]
async fn post_status(State(app): State<Arc<App>>, request: Request<Body>) -> Response {
    match answer(&app, request).await {
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

async fn answer(app: &App, request: Request<Body>) -> Result<PostResponse, ApiError> {
    let headers = request.headers().clone();
    let caller = app.authenticator.authenticate(&headers).await?;
    let sent: PostRequest = read_json(request).await?;
    operations::post(app, &sent, caller, agent_header(&headers)).await
}

/// Its responses in the OpenAPI document.
enum PostAnswers {}

impl IntoResponses for PostAnswers {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(
            &OF_AGENTS,
            Reader::Agent,
            "POST",
            Some(("PostResponse", examples::offline_post)),
        );
        let granted =
            narrowed("PostResponse", "success", just(true), &["locks"]).example(Some(examples::post_granted()));
        answers.insert(200, response("Claimed, renewed, or given back", granted));
        let codes = [
            ErrorCode::LockConflict,
            ErrorCode::LockLost,
            ErrorCode::NotPushed,
            ErrorCode::StaleHead,
            ErrorCode::TooManyLocks,
        ];
        let refused = with_error(&["PostResponse", "ErrorBody"], &codes).example(Some(examples::post_refused()));
        let why = "Refused by the rules, and nothing was changed: another's lock stands in the way (LOCK_CONFLICT, WAIT), the \
                   working copy is behind (STALE_HEAD, PULL), what was written is not pushed (NOT_PUSHED, PUSH), a lock is now \
                   another's (LOCK_LOST, STOP), or there is no room for more locks (TOO_MANY_LOCKS: STOP where the caller has \
                   too many, WAIT where a file or the repository has)";
        answers.insert(409, response(why, refused));
        finish(answers)
    }
}

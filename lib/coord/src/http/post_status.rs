//! `POST /api/post_status`: claim files, renew a claim, or give files back.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use coord_protocol::{PostRequest, PostResponse};

use super::body::read_json;
use super::endpoint::Endpoint;
use super::error::status_of;
use super::headers::agent_header;
use super::openapi::fields::AgentHeaders;
use super::openapi::{PostAnswers, examples};
use super::refusal::refusal;
use crate::app::App;
use crate::error::ApiError;
use crate::operations::post;

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
pub(super) async fn post_status(State(app): State<App>, request: Request<Body>) -> Response {
    match answer(&app, request).await {
        Ok(response) => {
            let status = response
                .error
                .as_ref()
                .map_or(StatusCode::OK, |error| status_of(error.error));
            (status, Json(response)).into_response()
        }
        Err(error) => refusal(Endpoint::PostStatus, &error),
    }
}

async fn answer(app: &App, request: Request<Body>) -> Result<PostResponse, ApiError> {
    let headers = request.headers().clone();
    let caller = app.authenticator.authenticate(&headers).await?;
    let sent: PostRequest = read_json(request).await?;
    post(app, &sent, caller, agent_header(&headers)).await
}

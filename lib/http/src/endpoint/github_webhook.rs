//! `POST /api/github_webhook`: deliveries of GitHub's webhook.
//!
//! A delivery must be signed. It moves a head only if it continues from the known head; otherwise the head is fetched
//! from GitHub. It ends only locks that existed at its time. So late or repeated deliveries do no harm.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi};

use crate::body::read_bytes;
use crate::error::HandlerError;
use crate::openapi::errors::{Cause, Reader, errors, finish};
use crate::openapi::fields::WebhookHeaders;
use crate::openapi::responses::{content, response};
use coord_domain::{CommitSha, Invalid, RepoId};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::heads::{self, RefreshError};
use coord_sources::github::webhook::{Delivery, PullRequest, Push, is_signed, parse, payload};
use coord_sources::{Source, SourceError};
use coord_state::heads::{PushOutcome, PushedHead, distrust_webhook, push_head, record_delivered_name};
use coord_state::locks::{PendingAct, settle_pending};

/// Maximum size of a delivery in bytes: a little more than a function ever gets. A push of 2,000 commits is about 3 MB.
const MAX_BYTES: usize = 5 * 1024 * 1024;

/// A delivery in the form encoding.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it stands for a body, which the handler reads itself")]
pub(super) struct WebhookForm {
    /// The delivery in JSON.
    payload: String,
}

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// The branch has moved, and that was announced.
    Moved,
    /// Its head was known.
    Unchanged,
    /// It did not continue from the known head, so the head was fetched from GitHub.
    Refreshed,
    /// The branch was deleted.
    Gone,
    /// No request has named this branch.
    Unused,
    /// Changes on the branch of a pull request have its number now, or are pending no more.
    Pending,
    /// The repository has another name now, or is deleted: heads of the name before are fetched again.
    Untrusted,
    /// Nothing here depends on the event.
    Ignored,
}

/// The response, which GitHub shows beside the delivery.
#[derive(Serialize, ToSchema)]
pub(super) struct WebhookResponse {
    outcome: Outcome,
}

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    post(take_delivery)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(take_delivery), components(schemas(WebhookResponse)))]
pub(super) struct Document;

/// Receive a delivery of GitHub's webhook: a push moves the head of its branch at once.
///
/// Set it up in the repository or organization with the events `push` and `repository`, and `pull_request` if agents use work
/// branches, and either content type. Other events are accepted and ignored.
#[utoipa::path(
    post,
    path = "/api/github_webhook",
    tag = "operation",
    params(WebhookHeaders),
    request_body(
        content(
            (Object = "application/json"),
            (WebhookForm = "application/x-www-form-urlencoded"),
        ),
        description = "A delivery as GitHub sends it, of 5 MiB at most",
    ),
    responses(WebhookResponses),
    security(("webhook_signature" = []))
)]
async fn take_delivery(State(state): State<Arc<App>>, request: Request<Body>) -> Result<Response, HandlerError> {
    let Some(webhook) = &state.webhook else {
        let problem = match &state.misconfigured {
            Some(error) => format!("{error}; until then, deliveries are refused"),
            None => "GITHUB_WEBHOOK_SECRET is not set in this deployment, so deliveries cannot be verified".to_owned(),
        };
        tracing::warn!("{problem}; or no repository of GitHub's is served");
        return Err(ApiError::Unauthorized(problem).into());
    };
    let headers = request.headers().clone();
    let body = read_bytes(request, MAX_BYTES).await?;
    if !is_signed(&webhook.secret, &body, header_text(&headers, "x-hub-signature-256")) {
        return Err(ApiError::Unauthorized(
            "X-Hub-Signature-256 is not the signature of this body under GITHUB_WEBHOOK_SECRET".to_owned(),
        )
        .into());
    }
    let malformed = |Invalid(message)| ApiError::malformed(message);
    let event = header_text(&headers, "x-github-event");
    let event = event.ok_or_else(|| ApiError::invalid_field("X-GitHub-Event", "is required"))?;
    let content_type = header_text(&headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let payload = payload(content_type, &body).map_err(malformed)?;
    let outcome = match parse(event, &payload, &webhook.host).map_err(malformed)? {
        Delivery::Push(push) => apply_push(&state, &push).await?,
        Delivery::PullRequest(pull_request) => apply_pull_request(&state, &pull_request).await?,
        Delivery::Gone(repo) => distrust_heads(&state, &repo).await?,
        Delivery::Ping | Delivery::Other => Outcome::Ignored,
    };
    tracing::debug!(event, ?outcome, "a delivery was applied");
    Ok(Json(WebhookResponse { outcome }).into_response())
}

fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

async fn apply_pull_request(state: &App, pull_request: &PullRequest) -> Result<Outcome, ApiError> {
    let PullRequest {
        repo,
        branch,
        work_branch,
        number,
        closed_at,
    } = pull_request;
    if stored_head_source(state, repo).is_none() {
        return Ok(Outcome::Ignored);
    }
    let act = match *closed_at {
        None => PendingAct::PullRequest(*number),
        Some(at) => PendingAct::EndAll { at },
    };
    let changed = settle_pending(&*state.store, repo, Some(branch), work_branch.as_str(), act).await?;
    Ok(if changed > 0 {
        Outcome::Pending
    } else {
        Outcome::Unchanged
    })
}

/// The source of `repo`, if the repository is served and its heads are in the store, where deliveries move them.
fn stored_head_source<'a>(state: &'a App, repo: &RepoId) -> Option<&'a dyn Source> {
    state.serves(repo).ok()?;
    let source = state.source.as_deref();
    source.filter(|source| source.keeps_heads_in_store(repo))
}

/// Distrusts the heads of `repo`, whose pushes GitHub now delivers under another name. The next request about it then
/// finds the new name.
async fn distrust_heads(state: &App, repo: &RepoId) -> Result<Outcome, ApiError> {
    if stored_head_source(state, repo).is_none() {
        return Ok(Outcome::Ignored);
    }
    Ok(if distrust_webhook(&*state.store, repo).await? {
        Outcome::Untrusted
    } else {
        Outcome::Unchanged
    })
}

async fn apply_push(state: &App, push: &Push) -> Result<Outcome, ApiError> {
    let Push { repo, branch, .. } = push;
    let Some(source) = stored_head_source(state, repo) else {
        return Ok(Outcome::Ignored);
    };
    if push.after.is_none() {
        // The branch was deleted. If it was a work branch, its changes are merged, or never will be.
        let act = PendingAct::EndAll { at: push.pushed_at };
        settle_pending(&*state.store, repo, None, branch.as_str(), act).await?;
    }
    let pushed_head = PushedHead {
        before: push.before.as_ref(),
        after: push.after.as_ref(),
        commits: &push.commits,
        is_reset: push.is_forced,
        pushed_at: push.pushed_at,
    };
    let report_move = |head: &CommitSha| {
        if let Some(observer) = &state.head_observer {
            observer.saw_move(repo, branch, head);
        }
    };
    match push_head(&*state.store, repo, branch, &pushed_head).await? {
        PushOutcome::Moved => {
            if let Some(head) = &push.after {
                report_move(head);
            }
            // Only a delivery that moved the head: a late or repeated one may have an old name.
            if let Some(number) = push.number
                && let Some(previous_name) = record_delivered_name(&*state.store, repo, number).await?
            {
                distrust_heads(state, &previous_name).await?;
            }
            Ok(Outcome::Moved)
        }
        PushOutcome::Unchanged => Ok(Outcome::Unchanged),
        PushOutcome::Unused => Ok(Outcome::Unused),
        PushOutcome::AskSource => match heads::refresh(&*state.store, source, repo, branch, None).await {
            Ok(head) => {
                report_move(&head);
                Ok(Outcome::Refreshed)
            }
            Err(RefreshError::Source(SourceError::UnknownBranch { .. } | SourceError::UnknownRepository { .. })) => {
                Ok(Outcome::Gone)
            }
            Err(error) => Err(error.into()),
        },
    }
}

/// Its responses in the OpenAPI document.
enum WebhookResponses {}

impl IntoResponses for WebhookResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [Cause::Caller, Cause::Input, Cause::Source, Cause::Body];
        let mut answers = errors(&causes, Reader::Person, "POST", None);
        let outcome = content("WebhookResponse", json!({ "outcome": "moved" }));
        answers.insert(200, response("The outcome of the delivery", outcome));
        finish(answers)
    }
}

//! A claim or a release, depending on the `status` of the request.

use coord_protocol::{Action, ErrorBody, LockStatus, Orchestration, PostRequest, PostResponse};

use super::claim_rules::parse_tool_use;
use super::fields::{parse_optional, parse_required, require};
use super::force_release::force_release;
use super::release::Release;
use super::wait::wait_seconds;
use super::work_request::{WorkRequest, offline_warning};
use super::{claim, release};
use crate::app::App;
use crate::error::ApiError;
use coord_auth::Caller;
use coord_domain::{CommitSha, LockMode, LockReason};

/// Claims or releases the files of `body` for `caller`. `agent` is the header `X-Coord-Agent`, if sent.
///
/// # Errors
/// When a field is missing or invalid, the caller is denied, or store or source do not respond. A refusal by the lock
/// rules is a response.
pub async fn post(
    app: &App,
    body: &PostRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<PostResponse, ApiError> {
    let request = WorkRequest::of_post(body, caller, agent)?;
    let status = *require("status", &body.status)?;
    let reason = parse_required("message", &body.message, LockReason::parse)?;
    let new_head = parse_optional("new_repo_head", body.new_repo_head.as_deref(), CommitSha::parse)?;
    let tool_use = parse_tool_use(app, body.tool_call.as_ref(), body.session.as_ref())?;
    let is_forced = body.force == Some(true);
    if is_forced && (status != LockStatus::Open || request.paths.is_everything()) {
        let problem = "force-releases others' locks: send it with status OPEN, and name the files";
        return Err(ApiError::invalid_field("force", problem));
    }
    let wait = wait_seconds(app, "wait_seconds", body.wait_seconds)?;
    if status == LockStatus::Open && body.wait_seconds.is_some_and(|seconds| seconds > 0) {
        let problem = "is for claims: send it with status READING or WRITING";
        return Err(ApiError::invalid_field("wait_seconds", problem));
    }
    let mut response = match status {
        LockStatus::Open if is_forced => force_release(app, &request, &reason).await?,
        LockStatus::Reading => claim(app, &request, LockMode::Reading, &reason, &tool_use, wait).await?,
        LockStatus::Writing => claim(app, &request, LockMode::Writing, &reason, &tool_use, wait).await?,
        LockStatus::Open => {
            let terms = Release {
                reason: &reason,
                new_head: new_head.as_ref(),
                is_abandoned: body.abandon == Some(true),
            };
            release(app, &request, &terms).await?
        }
    };
    if reason.is_vague(&request.paths) {
        response.warnings.push(
            "VAGUE_MESSAGE: Say what you are doing and why, for example: \
             Refactoring authentication to use JWT tokens instead of sessions."
                .to_owned(),
        );
    }
    response.warnings.extend(request.notes);
    Ok(response)
}

/// The response if store or source do not respond.
pub(super) fn offline_post(error: &ApiError) -> PostResponse {
    let body = error.body();
    let reason = format!("Writing is not safe without locks: {}", body.message);
    let mut response = PostResponse::new(false, Orchestration::new(Action::Stop, reason));
    response.warnings = vec![offline_warning(error)];
    response.error = Some(body);
    response
}

/// The response if `error` is a refusal by the lock rules.
pub(super) fn refused_post(error: &ApiError) -> PostResponse {
    let mut response = PostResponse::new(false, error.orchestration());
    response.error = Some(ErrorBody {
        message: String::new(),
        ..error.body()
    });
    response
}

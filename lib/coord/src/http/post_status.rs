//! `POST /api/post_status`: claim files, renew a claim, or give files back.

mod release;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use coord_protocol::{ErrorCode, Metadata, Orchestration, PostRequest, PostResponse};

use super::ApiError;
use super::body::read_json;
use super::check_status::{blocking_metadata, blocking_reason};
use super::entrance::Right;
use super::lock_view::{already_held, others_locks, own_locks, warnings};
use super::openapi::fields::AgentHeaders;
use super::openapi::{PostAnswers, examples};
use super::question::{Fields, Question, in_field, named, required};
use crate::app::App;
use crate::domain::orchestration::{self, Action, Facts, Operation};
use crate::domain::{CommitSha, LockMode, LockReason, LockStatus};
use crate::store::scripts::{self, ClaimOutcome, Finding, Survey, Wanted};

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
pub(super) async fn post_status(State(state): State<App>, request: Request<Body>) -> Response {
    let answered = answer(&state, request).await;
    answered.map_or_else(|error| refuse(&error), respond)
}

fn respond(response: PostResponse) -> Response {
    let status = if response.success {
        StatusCode::OK
    } else {
        StatusCode::CONFLICT
    };
    (status, Json(response)).into_response()
}

/// `error` as the answer.
pub(super) fn refuse(error: &ApiError) -> Response {
    if error.is_offline() {
        offline(error)
    } else if matches!(error, ApiError::TooManyLocks(_)) {
        let mut response = PostResponse::new(false, error.orchestration());
        response.error = Some(error.body());
        error.respond(response)
    } else {
        error.respond_to_agent()
    }
}

fn offline(error: &ApiError) -> Response {
    let body = error.body();
    let facts = Facts {
        is_offline: true,
        ..Facts::default()
    };
    let action = orchestration::decide(Operation::Release, facts);
    let reason = format!("Without locks it is not safe to write: {}", body.message);
    let mut response = PostResponse::new(false, Orchestration::new(action, reason));
    response.warnings = vec![Question::offline_warning()];
    response.error = Some(body);
    error.respond(response)
}

async fn answer(state: &App, request: Request<Body>) -> Result<PostResponse, ApiError> {
    let headers = request.headers().clone();
    let caller = state.authenticator.authenticate(&headers).await?;
    let sent: PostRequest = read_json(request).await?;
    let is_abandoned = sent.abandon == Some(true);
    let question = Question::parse(
        &Fields {
            repo_url: &sent.repo_url,
            branch: &sent.branch,
            file_paths: &sent.file_paths,
            agent_head: &sent.agent_head,
            base_head: &sent.base_head,
            agent_id: &sent.agent_id,
            takes_everything: is_abandoned && sent.status == Some(LockStatus::Open),
        },
        caller,
        &headers,
    )?;
    let status = *required("status", &sent.status)?;
    let message = LockReason::parse(required("message", &sent.message)?).map_err(in_field("message"))?;
    let new_head = sent
        .new_repo_head
        .as_deref()
        .map(CommitSha::parse)
        .transpose()
        .map_err(in_field("new_repo_head"))?;

    let mut response = match status {
        LockStatus::Reading => claim(state, &question, LockMode::Reading, &message).await?,
        LockStatus::Writing => claim(state, &question, LockMode::Writing, &message).await?,
        LockStatus::Open => release::release(state, &question, &message, new_head, is_abandoned).await?,
    };
    if message.is_vague(&question.paths) {
        response.warnings.push(
            "VAGUE_MESSAGE: Say what you are doing and why, for example: \
             Refactoring authentication to use JWT tokens instead of sessions."
                .to_owned(),
        );
    }
    Ok(response)
}

async fn claim(
    state: &App,
    question: &Question,
    wanted: LockMode,
    message: &LockReason,
) -> Result<PostResponse, ApiError> {
    let mut entrance = question.enter(state, Right::Push).await?;
    if wanted == LockMode::Writing {
        entrance = entrance.for_writing();
    }
    let claim = Wanted {
        claim: wanted,
        policy: state.locks.neighbor_policy,
        agent_head: &question.agent_head,
        message,
        ttl_seconds: state.locks.ttl_seconds,
        paths: &question.paths,
    };
    let outcome = loop {
        let entered = scripts::claim(&*state.store, &entrance.entry(), &claim).await?;
        if let Some(outcome) = entrance.pass(entered).await? {
            break outcome;
        }
    };
    let (survey, is_claimed) = match outcome {
        ClaimOutcome::Claimed(survey) => (survey, true),
        ClaimOutcome::Conflict(survey) | ClaimOutcome::Stale(survey) => (survey, false),
    };
    let mut notes = Vec::new();
    entrance.note(&survey.head, &mut notes);
    let is_certain = survey.is_behind_for_certain || entrance.is_behind_for_certain();
    let behind = Behind {
        branch: &entrance.branch_name(),
        is_certain,
    };
    let mut response = respond_to_claim(question, wanted, survey, is_claimed, behind);
    notes.append(&mut response.warnings);
    response.warnings = notes;
    response.repo_head_ref = entrance.head_ref();
    Ok(response)
}

/// How sentences tell of a working copy that lacks the head.
#[derive(Clone, Copy)]
struct Behind<'a> {
    /// What they call the branch.
    branch: &'a str,
    /// Whether it is certain.
    is_certain: bool,
}

fn respond_to_claim(
    question: &Question,
    wanted: LockMode,
    survey: Survey,
    is_claimed: bool,
    behind: Behind<'_>,
) -> PostResponse {
    let blocking: Vec<&Finding> = survey.findings.iter().filter(|finding| finding.blocks).collect();
    let written = survey.held.iter().filter(|held| held.status == LockMode::Writing);
    let facts = Facts {
        is_behind: survey.is_behind,
        is_renewal: written.count() == question.paths.len(),
        is_blocked: !blocking.is_empty(),
        ..Facts::default()
    };
    let action = orchestration::decide(Operation::Claim(wanted), facts);
    debug_assert_eq!(
        is_claimed,
        action == Action::Proceed,
        "script and decision differ on {facts:?}"
    );
    let mut response = match action {
        Action::Pull => stale(question, &survey, &blocking, behind),
        Action::Wait => {
            let metadata = blocking_metadata(&blocking, Some(survey.now));
            let expires = metadata
                .retry_after
                .map(|seconds| format!("; the first lock expires in {seconds} s"));
            let reason = format!("{}{}", blocking_reason(&blocking), expires.unwrap_or_default());
            PostResponse::refusal(
                ErrorCode::LockConflict,
                Orchestration::new(action, reason).with(metadata),
            )
        }
        _ => {
            let verb = match wanted {
                LockMode::Reading => "read",
                LockMode::Writing => "write",
            };
            PostResponse::new(
                true,
                Orchestration::new(action, format!("You may {verb} {}", named(&question.paths))),
            )
        }
    };
    response.warnings = question.warnings(&survey, behind.branch, behind.is_certain);
    if let (true, true, LockMode::Writing, Some(warning)) =
        (is_claimed, facts.is_behind, wanted, response.warnings.first_mut())
    {
        warning.push_str(" What you hold is renewed all the same; PULL (git pull --rebase) before you push.");
    }
    response.warnings.extend(warnings(&survey.findings));
    if is_claimed {
        response
            .warnings
            .extend(already_held(&survey.held, question.has_agent_id()));
        response.locks = Some(own_locks(&survey));
    } else {
        response.conflicting_locks = others_locks(&survey.findings);
        response.locks_omitted = survey.omitted;
    }
    response.repo_head = Some(survey.head.commit.to_string());
    response
}

/// The refusal of a claim to write from a working copy that is behind, with all else that is in the way.
fn stale(question: &Question, survey: &Survey, blocking: &[&Finding], behind: Behind<'_>) -> PostResponse {
    let mut reason = question.behind_reason(&survey.head.commit, behind.branch, behind.is_certain);
    reason.push_str("; nothing was claimed");
    let held: Vec<&str> = survey.held.iter().map(|held| held.file_path.as_str()).collect();
    if !held.is_empty() {
        reason = format!("{reason}. What you hold can be renewed alone: {}", named(&held));
    }
    if !blocking.is_empty() {
        reason = format!("{reason}. Besides: {}", blocking_reason(blocking));
    }
    let metadata = Metadata {
        remote_head: Some(survey.head.commit.to_string()),
        ..blocking_metadata(blocking, None)
    };
    PostResponse::refusal(
        ErrorCode::StaleHead,
        Orchestration::new(Action::Pull, reason).with(metadata),
    )
}

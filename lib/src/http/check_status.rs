//! `POST /api/check_status`: what stands in the way of editing some files.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::body::read_json;
use super::entrance::{Entrance, Right};
use super::error::ErrorBody;
use super::lock_view::{LockView, OwnLockView, others_locks, own_locks, sentence, warnings};
use super::question::{Fields, Question};
use super::{ApiError, AppState};
use crate::domain::orchestration::{self, Action, Facts, Metadata, Orchestration, Status};
use crate::domain::{Claim, CommitSha};
use crate::store::scripts::{self, Finding, Survey};

/// The request, as sent.
#[derive(Debug, Deserialize)]
struct CheckRequest {
    repo_url: Option<String>,
    branch: Option<String>,
    file_paths: Option<Vec<String>>,
    agent_head: Option<String>,
    base_head: Option<String>,
    intent: Option<Claim>,
    agent_id: Option<String>,
}

/// The answer. One that is OFFLINE has the error besides.
#[derive(Serialize)]
struct CheckResponse {
    status: Status,
    repo_head: Option<CommitSha>,
    locks: BTreeMap<String, LockView>,
    held: BTreeMap<String, OwnLockView>,
    /// How many locked neighbours are not in `locks`, where there are very many.
    #[serde(skip_serializing_if = "is_zero")]
    locks_omitted: u64,
    warnings: Vec<String>,
    orchestration: Orchestration,
    #[serde(flatten)]
    error: Option<ErrorBody>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// `POST /api/check_status`
pub(super) async fn check_status(State(state): State<AppState>, request: Request<Body>) -> Response {
    match answer(&state, request).await {
        Ok(response) => response,
        Err(error) if error.is_offline() => offline(&error, None),
        Err(error) => error.respond_to_agent(),
    }
}

async fn answer(state: &AppState, request: Request<Body>) -> Result<Response, ApiError> {
    let headers = request.headers().clone();
    let caller = state.authenticator.authenticate(&headers).await?;
    let sent: CheckRequest = read_json(request).await?;
    let question = Question::parse(
        &Fields {
            repo_url: &sent.repo_url,
            branch: &sent.branch,
            file_paths: &sent.file_paths,
            agent_head: &sent.agent_head,
            base_head: &sent.base_head,
            agent_id: &sent.agent_id,
        },
        caller,
        &headers,
    )?;
    let intent = sent.intent.unwrap_or(Claim::Writing);
    let mut entrance = question.enter(state, Right::Read).await?;
    match survey(state, &question, &mut entrance, intent).await {
        Ok(survey) => {
            let mut notes = Vec::new();
            entrance.note(&survey.head, &mut notes);
            Ok(Json(respond(&question, survey, notes)).into_response())
        }
        Err(error) if error.is_offline() => Ok(offline(&error, entrance.told())),
        Err(error) => Err(error),
    }
}

async fn survey(
    state: &AppState,
    question: &Question,
    entrance: &mut Entrance<'_>,
    intent: Claim,
) -> Result<Survey, ApiError> {
    let policy = state.locks.neighbor_policy;
    loop {
        let entered = scripts::check_status(&*state.store, &entrance.entry(), &question.paths, intent, policy).await?;
        if let Some(survey) = entrance.pass(entered).await? {
            return Ok(survey);
        }
    }
}

fn offline(error: &ApiError, repo_head: Option<&CommitSha>) -> Response {
    let facts = Facts {
        is_offline: true,
        ..Facts::default()
    };
    let body = error.body();
    error.respond(CheckResponse {
        status: orchestration::status(facts),
        repo_head: repo_head.cloned(),
        locks: BTreeMap::new(),
        held: BTreeMap::new(),
        locks_omitted: 0,
        warnings: vec![Question::offline_warning()],
        orchestration: Orchestration::new(
            orchestration::decide(orchestration::Question::Check, facts),
            format!("Coord cannot say what is locked: {}", body.message),
        ),
        error: Some(body),
    })
}

fn respond(question: &Question, survey: Survey, mut notes: Vec<String>) -> CheckResponse {
    let blocking: Vec<&Finding> = survey.findings.iter().filter(|finding| finding.blocks).collect();
    let facts = Facts {
        is_behind: survey.is_behind,
        is_blocked: !blocking.is_empty(),
        ..Facts::default()
    };
    let action = orchestration::decide(orchestration::Question::Check, facts);
    let orchestration = match action {
        Action::SwitchTask => {
            Orchestration::new(action, blocking_reason(&blocking)).with(blocking_metadata(&blocking, None))
        }
        Action::Pull => Orchestration::new(
            action,
            format!(
                "Your working copy lacks commit {} of origin/{}",
                survey.head.commit.short(),
                question.branch
            ),
        )
        .with(Metadata {
            remote_head: Some(survey.head.commit.clone()),
            ..Metadata::default()
        }),
        _ => Orchestration::new(action, "Nothing stands in the way"),
    };
    notes.extend(question.warnings(&survey));
    notes.extend(warnings(&survey.findings));
    CheckResponse {
        status: orchestration::status(facts),
        locks: others_locks(&survey.findings),
        held: own_locks(&survey),
        locks_omitted: survey.omitted,
        warnings: notes,
        orchestration,
        error: None,
        repo_head: Some(survey.head.commit),
    }
}

/// Why the locks in the way are in the way: the first in words, the others by number.
pub(super) fn blocking_reason(blocking: &[&Finding]) -> String {
    let first = blocking.first().map(|finding| sentence(finding)).unwrap_or_default();
    match blocking.len() {
        0 | 1 => first,
        count => format!("{first} (and {} more in the way)", count - 1),
    }
}

/// Whose locks are in the way; with `now`, also when the first of them expires by itself.
pub(super) fn blocking_metadata(blocking: &[&Finding], now: Option<i64>) -> Metadata {
    let mut conflicts: Vec<String> = blocking.iter().map(|finding| finding.entry.file_path.clone()).collect();
    conflicts.sort();
    conflicts.dedup();
    let first_expiry = blocking.iter().map(|finding| finding.entry.expiry).min();
    Metadata {
        lock_owner: blocking.first().map(|finding| finding.entry.user_id.clone()),
        conflicts,
        retry_after: now.zip(first_expiry).map(|(now, expiry)| (expiry - now).max(1)),
        ..Metadata::default()
    }
}

//! `POST /api/check_status`: what stands in the way of editing some files.

use std::collections::BTreeMap;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::{IntoResponse, Response};
use coord_protocol::{CheckRequest, CheckResponse, Metadata, Orchestration};

use super::ApiError;
use super::body::read_json;
use super::entrance::{Entrance, Right};
use super::lock_view::{others_locks, own_locks, sentence, warnings};
use super::openapi::fields::AgentHeaders;
use super::openapi::{CheckAnswers, examples};
use super::question::{Fields, Question};
use crate::app::App;
use crate::domain::orchestration::{self, Action, Facts, Operation};
use crate::domain::{CommitSha, LockMode};
use crate::store::scripts::{self, Finding, Survey};

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
pub(super) async fn check_status(State(state): State<App>, request: Request<Body>) -> Response {
    answer(&state, request).await.unwrap_or_else(|error| refuse(&error))
}

/// `error` as the answer.
pub(super) fn refuse(error: &ApiError) -> Response {
    if error.is_offline() {
        offline(error, None)
    } else {
        error.respond_to_agent()
    }
}

async fn answer(state: &App, request: Request<Body>) -> Result<Response, ApiError> {
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
            takes_everything: false,
        },
        caller,
        &headers,
    )?;
    let intent = sent.intent.unwrap_or(LockMode::Writing);
    let mut entrance = question.enter(state, Right::Read).await?;
    match survey(state, &question, &mut entrance, intent).await {
        Ok(survey) => {
            let mut notes = Vec::new();
            entrance.note(&survey.head, &mut notes);
            if survey.graph_version.is_none() {
                entrance.misses_graph(&survey.head.commit);
            }
            let is_certain = survey.is_behind_for_certain || entrance.is_behind_for_certain();
            let branch = entrance.branch_name();
            let mut response = respond(&question, survey, &branch, is_certain, notes);
            response.repo_head_ref = entrance.head_ref();
            Ok(Json(response).into_response())
        }
        Err(error) if error.is_offline() => Ok(offline(&error, entrance.told())),
        Err(error) => Err(error),
    }
}

async fn survey(
    state: &App,
    question: &Question,
    entrance: &mut Entrance<'_>,
    intent: LockMode,
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
        repo_head: repo_head.map(ToString::to_string),
        repo_head_ref: None,
        locks: BTreeMap::new(),
        held: BTreeMap::new(),
        locks_omitted: 0,
        warnings: vec![Question::offline_warning()],
        orchestration: Orchestration::new(
            orchestration::decide(Operation::Check, facts),
            format!("Coord cannot say what is locked: {}", body.message),
        ),
        error: Some(body),
    })
}

fn respond(
    question: &Question,
    survey: Survey,
    branch: &str,
    is_certain: bool,
    mut notes: Vec<String>,
) -> CheckResponse {
    let blocking: Vec<&Finding> = survey.findings.iter().filter(|finding| finding.blocks).collect();
    let facts = Facts {
        is_behind: survey.is_behind,
        is_blocked: !blocking.is_empty(),
        ..Facts::default()
    };
    let action = orchestration::decide(Operation::Check, facts);
    let orchestration = match action {
        Action::SwitchTask => {
            Orchestration::new(action, blocking_reason(&blocking)).with(blocking_metadata(&blocking, None))
        }
        Action::Pull => Orchestration::new(action, question.behind_reason(&survey.head.commit, branch, is_certain))
            .with(Metadata {
                remote_head: Some(survey.head.commit.to_string()),
                ..Metadata::default()
            }),
        _ => Orchestration::new(action, "Nothing stands in the way"),
    };
    notes.extend(question.warnings(&survey, branch, is_certain));
    notes.extend(warnings(&survey.findings));
    CheckResponse {
        status: orchestration::status(facts),
        locks: others_locks(&survey.findings),
        held: own_locks(&survey),
        locks_omitted: survey.omitted,
        warnings: notes,
        orchestration,
        error: None,
        repo_head_ref: None,
        repo_head: Some(survey.head.commit.to_string()),
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
        lock_owner_agent: blocking.first().and_then(|finding| finding.entry.agent_id.clone()),
        conflicts,
        retry_after: now.zip(first_expiry).map(|(now, expiry)| (expiry - now).max(1)),
        ..Metadata::default()
    }
}

//! Claims all files of a request, or none; a repeated claim renews. The script decides; this module words the outcome.

use std::time::Duration;

use coord_protocol::event::LocksEnded;
use coord_protocol::{Action, ErrorCode, Event, Membership, Metadata, Orchestration, PostResponse};

use super::blocking::{blocking_findings, blocking_metadata, blocking_reason, expiring};
use super::claim_rules::ClaimRules;
use super::interfaces::interface_notices;
use super::lock_views::{
    already_held_warnings, claim_cost_warning, finding_warnings, holder_name, memberships, others_locks, own_locks,
    taken_over_warning,
};
use super::sentences::{list_paths, new_files_note};
use super::wait::{LongPoll, Urgency};
use super::work_request::{HeadStatus, WorkRequest};
use crate::admission::{Admission, AdmittedCall, Right};
use crate::app::App;
use crate::error::ApiError;
use crate::extension::ToolUse;
use coord_domain::{Branch, LockMode, LockReason};
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, Question};
use coord_state::locks::{ClaimOutcome, ClaimTerms, Finding, Relation, Survey};
use coord_store::{Store, StoreError};

/// Claims the files of `request` in `mode`. If they are locked, it waits up to `wait` seconds.
///
/// # Errors
/// When the caller is denied, or store or source do not respond.
pub async fn claim(
    app: &App,
    request: &WorkRequest,
    mode: LockMode,
    reason: &LockReason,
    tool_use: &ToolUse,
    wait: u32,
) -> Result<PostResponse, ApiError> {
    let mut admission = begin(app, request, mode).await?;
    let mut long_poll = LongPoll::begin(&app.events, &request.repo, &admission.holder().user_id, wait).await?;
    let mut refusal = None;
    loop {
        let mut call = ClaimCall {
            app,
            request,
            mode,
            reason,
            wait_seconds: long_poll.left_seconds(),
            rules: ClaimRules::new(app, request, &admission, tool_use),
        };
        let outcome = match (admission.run(&mut call).await, refusal.take()) {
            (Ok(outcome), _) => outcome,
            // The rate limit allows no more claims for now, which ends the wait.
            (Err(ApiError::RateLimited { .. }), Some(refusal)) => return Ok(refusal),
            (Err(error), _) => return Err(error),
        };
        let response = respond(app, request, &admission, mode, &outcome, call.rules);
        let ClaimOutcome::Conflict(survey) = &outcome else {
            return Ok(response);
        };
        let blocking = blocking_findings(&survey.findings);
        let ticket = survey.queued.as_ref().map(|queued| queued.ticket.as_str());
        let urgency = |event: &Event| match event {
            Event::LockReserved(reservation) => (Some(reservation.ticket.as_str()) == ticket).then_some(Urgency::Now),
            event => may_free(event, &request.branch, &blocking).then_some(Urgency::Soon),
        };
        if !long_poll
            .wait_for_event(urgency, time_to_first_end(&blocking, survey.now))
            .await
        {
            return Ok(response);
        }
        refusal = Some(response);
        // The holder may have pushed before it released.
        admission = begin(app, request, mode).await?;
    }
}

async fn begin<'a>(app: &'a App, request: &'a WorkRequest, mode: LockMode) -> Result<Admission<'a>, ApiError> {
    let admission = request.begin(app, Right::Push).await?;
    Ok(match mode {
        LockMode::Reading => admission,
        LockMode::Writing => admission.for_writing(),
    })
}

/// Whether `event` may have ended a lock that blocks a claim on `branch`. An event names only some of its files.
fn may_free(event: &Event, branch: &Branch, blocking: &[&Finding]) -> bool {
    let file_count = match event {
        Event::LockReleased(LocksEnded::OfClaim(ended)) | Event::LockExpired(LocksEnded::OfClaim(ended)) => {
            ended.file_count
        }
        Event::LockReleased(LocksEnded::OfMany(ended)) | Event::LockExpired(LocksEnded::OfMany(ended)) => {
            ended.file_count
        }
        _ => return false,
    };
    let files = event.files();
    let is_on_branch = event.branch().is_none_or(|name| name == branch.as_str());
    let is_named = |finding: &&Finding| files.contains(&finding.entry.file_path);
    is_on_branch && (files.len() as u64 != u64::from(file_count) || blocking.iter().any(is_named))
}

/// The time until the first of the blocking locks expires.
fn time_to_first_end(blocking: &[&Finding], now: i64) -> Option<Duration> {
    let first = blocking.iter().map(|finding| finding.entry.free_from()).min()?;
    Some(Duration::from_secs((first - now).max(1).unsigned_abs()))
}

/// The response to a claim.
pub fn respond(
    app: &App,
    request: &WorkRequest,
    admission: &Admission<'_>,
    mode: LockMode,
    outcome: &ClaimOutcome,
    rules: ClaimRules<'_>,
) -> PostResponse {
    let survey = outcome.survey();
    let (verdict, policy) = rules.end_gate(&survey.gate);
    let head_status = HeadStatus::new(request, admission, survey);
    let mut response = match outcome {
        ClaimOutcome::Claimed(survey) => grant_response(request, mode, survey, &head_status),
        ClaimOutcome::Conflict(survey) => conflict_response(survey, &head_status),
        ClaimOutcome::Stale(survey) => stale_response(survey, &head_status),
        ClaimOutcome::Refused(survey) => {
            if let Some(gate) = app.extensions.gate() {
                gate.note_refusal(&app.store, &request.repo);
            }
            gate_response(survey, &head_status, verdict.refusal)
        }
    };
    response.warnings.extend(verdict.warnings);
    response.warnings.extend(policy.end().warnings());
    response.warnings.extend(interface_notices(&survey.own));
    response.your_teams = memberships(&survey.waiting);
    let mut notes = Vec::new();
    admission.report_head(&survey.head, &mut notes);
    notes.extend(response.your_teams.iter().flat_map(Membership::warnings));
    notes.append(&mut response.warnings);
    response.warnings = notes;
    response.repo_head = Some(survey.head.commit.to_string());
    response.repo_head_ref = admission.head_ref();
    response
}

struct ClaimCall<'a> {
    app: &'a App,
    request: &'a WorkRequest,
    mode: LockMode,
    reason: &'a LockReason,
    wait_seconds: u32,
    rules: ClaimRules<'a>,
}

impl AdmittedCall for ClaimCall<'_> {
    type Outcome = ClaimOutcome;

    async fn make(&self, store: &dyn Store, terms: &AdmissionTerms<'_>) -> Result<Admitted<ClaimOutcome>, StoreError> {
        let (request, rules) = (self.request, &self.rules);
        let claim_terms = ClaimTerms {
            mode: self.mode,
            wait_seconds: self.wait_seconds,
            policy: rules.policy_terms(),
            agent_head: &request.agent_head,
            message: self.reason,
            ttl_seconds: rules.policy.ttl_seconds(),
            claimed: &self.app.claimed,
            take_over: request.take_over.as_ref(),
            paths: &request.paths,
            gate: rules.gate_terms(),
        };
        state::locks::claim(store, terms, &claim_terms).await
    }

    async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        self.rules.answer(admission, question).await
    }
}

fn grant_response(request: &WorkRequest, mode: LockMode, survey: &Survey, head_status: &HeadStatus) -> PostResponse {
    let (verb, fix) = match mode {
        LockMode::Reading => ("read", ""),
        LockMode::Writing => (
            "write",
            " Your locks are renewed; PULL (git pull --rebase) before you push.",
        ),
    };
    let new_files = new_files_note(survey, request.paths.len());
    let reason = format!("You may {verb} {}{new_files}", list_paths(&request.paths));
    let mut orchestration = Orchestration::new(Action::Proceed, reason);
    if let Some(intent) = &survey.gate.intent {
        orchestration = orchestration.with(Metadata {
            intent_id: Some(intent.clone()),
            ..Metadata::default()
        });
    }
    let mut response = PostResponse::new(true, orchestration);
    let mut warnings = head_status.warnings_with(survey, fix);
    warnings.extend(finding_warnings(&survey.findings, head_status.user()));
    warnings.extend(already_held_warnings(&survey.held, request.has_agent_id()));
    warnings.extend(taken_over_warning(&survey.held));
    warnings.extend(survey.cost.as_ref().map(claim_cost_warning));
    response.warnings = warnings;
    response.locks = Some(own_locks(survey));
    response
}

/// The refusal due to others' locks.
fn conflict_response(survey: &Survey, head_status: &HeadStatus) -> PostResponse {
    let blocking = blocking_findings(&survey.findings);
    let mut metadata = Metadata {
        suggested_tasks: survey.suggested.clone(),
        free: survey.free.clone(),
        expected_by: expiring(&blocking).map(|finding| finding.entry.free_from()).max(),
        ..blocking_metadata(&blocking, Some(survey.now))
    };
    let mut reason = blocking_reason(&blocking, head_status.user());
    if let Some(seconds) = metadata.retry_after {
        let subject = match (
            blocking.len(),
            blocking.iter().all(|finding| finding.relation == Relation::Reserved),
        ) {
            (1, true) => "its reservation",
            (1, false) => "its lock",
            _ => "the first",
        };
        reason.push_str(&format!("; {subject} expires in {seconds} s"));
    }
    if let Some(queued) = &survey.queued {
        metadata.ticket = Some(queued.ticket.clone());
        metadata.position = Some(queued.position);
        metadata.before.clone_from(&queued.before);
        if queued.position > 1 {
            reason.push_str(&format!("; you are number {} in the queue", queued.position));
        }
    }
    // If only pending changes block, waiting is useless: they last until they are merged.
    let action = if metadata.retry_after.is_some() {
        Action::Wait
    } else {
        Action::SwitchTask
    };
    let orchestration = Orchestration::new(action, reason).with(metadata);
    let mut response = refusal_response(ErrorCode::LockConflict, orchestration, survey, head_status);
    let mutual = survey.queued.iter().flat_map(|queued| &queued.mutual);
    response.warnings.extend(mutual.map(|(user, agent)| {
        format!(
            "MUTUAL_WAIT: You and {} each wait for files that the other holds: release yours, or agree on who goes \
             first.",
            holder_name(user, agent.as_deref(), head_status.user())
        )
    }));
    response
}

/// The refusal of a claim to write from a working copy that is behind, with all other conflicts.
fn stale_response(survey: &Survey, head_status: &HeadStatus) -> PostResponse {
    let blocking = blocking_findings(&survey.findings);
    let mut reason = head_status.behind_reason();
    reason.push_str("; nothing was claimed");
    // A claim to write renews only locks for writing.
    let renewable = survey.held.iter().filter(|lock| lock.status == LockMode::Writing);
    let renewable: Vec<&str> = renewable.map(|lock| lock.file_path.as_str()).collect();
    if !renewable.is_empty() {
        reason = format!(
            "{reason}. You can renew the locks that you hold, without other files: {}",
            list_paths(&renewable)
        );
    }
    if !blocking.is_empty() {
        reason = format!("{reason}. Also: {}", blocking_reason(&blocking, head_status.user()));
    }
    let metadata = Metadata {
        remote_head: Some(survey.head.commit.to_string()),
        ..blocking_metadata(&blocking, None)
    };
    let orchestration = head_status
        .with_pull(Orchestration::new(Action::Pull, reason))
        .with(metadata);
    refusal_response(ErrorCode::StaleHead, orchestration, survey, head_status)
}

/// The refusal by the gate, with all other conflicts.
fn gate_response(survey: &Survey, head_status: &HeadStatus, command: Option<Orchestration>) -> PostResponse {
    let code = survey.gate.refusal().unwrap_or(ErrorCode::Internal);
    let command = command.unwrap_or_else(|| Orchestration::new(Action::Stop, ""));
    let mut response = refusal_response(code, command, survey, head_status);
    let blocking = blocking_findings(&survey.findings);
    if !blocking.is_empty() {
        response.warnings.push(format!(
            "LOCK_CONFLICT: {}.",
            blocking_reason(&blocking, head_status.user())
        ));
    }
    response
}

fn refusal_response(
    code: ErrorCode,
    orchestration: Orchestration,
    survey: &Survey,
    head_status: &HeadStatus,
) -> PostResponse {
    let mut response = PostResponse::refusal(code, orchestration);
    response.warnings = head_status.warnings(survey);
    response
        .warnings
        .extend(finding_warnings(&survey.findings, head_status.user()));
    response.conflicting_locks = others_locks(&survey.findings);
    response.locks_omitted = survey.omitted;
    response
}

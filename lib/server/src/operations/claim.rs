//! The claim of all files of a request, or none; a repeated claim renews. The script decides; this module words the outcome.

use std::time::Duration;

use coord_protocol::event::LocksEnded;
use coord_protocol::{Action, ErrorCode, Event, Membership, Metadata, Orchestration, PostResponse};

use super::blocking::{blocking, blocking_metadata, blocking_reason, ending};
use super::claim_rules::ClaimRules;
use super::interfaces::notices_of;
use super::lock_views::{
    already_held, cost_of_claim, holder_name, memberships, others_locks, own_locks, taken_over, warnings,
};
use super::sentences::{list_paths, new_files};
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

/// Claims the files of `request` in `mode`, and waits up to `wait` seconds for its turn.
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
    let mut waiting = LongPoll::begin(&app.events, &request.repo, &admission.holder().user_id, wait).await?;
    let mut refusal = None;
    loop {
        let mut call = ClaimCall {
            app,
            request,
            mode,
            reason,
            wait_seconds: waiting.left_seconds(),
            rules: ClaimRules::new(app, request, &admission, tool_use),
        };
        let outcome = match (admission.run(&mut call).await, refusal.take()) {
            (Ok(outcome), _) => outcome,
            // The caller may claim no more for now: that ends the wait.
            (Err(ApiError::RateLimited { .. }), Some(refusal)) => return Ok(refusal),
            (Err(error), _) => return Err(error),
        };
        let response = respond(app, request, &admission, mode, &outcome, call.rules);
        let ClaimOutcome::Conflict(survey) = &outcome else {
            return Ok(response);
        };
        let blocking = blocking(&survey.findings);
        let ticket = survey.queued.as_ref().map(|queued| queued.ticket.as_str());
        let matters = |event: &Event| match event {
            Event::LockReserved(reservation) => (Some(reservation.ticket.as_str()) == ticket).then_some(Urgency::Now),
            event => may_free(event, &request.branch, &blocking).then_some(Urgency::Soon),
        };
        if !waiting.until(matters, first_end(&blocking, survey.now)).await {
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

/// Whether `event` may have ended one of the locks that block a claim on `branch`. An event names a few of its files.
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
    let is_here = event.branch().is_none_or(|name| name == branch.as_str());
    let names = |finding: &&Finding| files.contains(&finding.entry.file_path);
    is_here && (files.len() as u64 != u64::from(file_count) || blocking.iter().any(names))
}

/// How long until the first of the blocking locks ends, unless that happens before.
fn first_end(blocking: &[&Finding], now: i64) -> Option<Duration> {
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
    let standing = HeadStatus::of(request, admission, survey);
    let mut response = match outcome {
        ClaimOutcome::Claimed(survey) => grant_response(request, mode, survey, &standing),
        ClaimOutcome::Conflict(survey) => conflict(survey, &standing),
        ClaimOutcome::Stale(survey) => stale(survey, &standing),
        ClaimOutcome::Refused(survey) => {
            if let Some(gate) = app.extensions.gate() {
                gate.note_refusal(&app.store, &request.repo);
            }
            gate_refusal(survey, &standing, verdict.refusal)
        }
    };
    response.warnings.extend(verdict.warnings);
    policy.end().add_to(&mut response);
    response.warnings.extend(notices_of(&survey.own));
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
        let wanted = ClaimTerms {
            claim: self.mode,
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
        state::locks::claim(store, terms, &wanted).await
    }

    async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        self.rules.answer(admission, question).await
    }
}

fn grant_response(request: &WorkRequest, mode: LockMode, survey: &Survey, standing: &HeadStatus) -> PostResponse {
    let (verb, way_out) = match mode {
        LockMode::Reading => ("read", ""),
        LockMode::Writing => (
            "write",
            " Your locks are renewed; PULL (git pull --rebase) before you push.",
        ),
    };
    let new = new_files(survey, request.paths.len());
    let reason = format!("You may {verb} {}{new}", list_paths(&request.paths));
    let mut orchestration = Orchestration::new(Action::Proceed, reason);
    if let Some(intent) = &survey.gate.intent {
        orchestration = orchestration.with(Metadata {
            intent_id: Some(intent.clone()),
            ..Metadata::default()
        });
    }
    let mut response = PostResponse::new(true, orchestration);
    let mut notes = standing.warnings_with(survey, way_out);
    notes.extend(warnings(&survey.findings, standing.user()));
    notes.extend(already_held(&survey.held, request.has_agent_id()));
    notes.extend(taken_over(&survey.held));
    notes.extend(survey.cost.as_ref().map(cost_of_claim));
    response.warnings = notes;
    response.locks = Some(own_locks(survey));
    response
}

/// The refusal due to others' locks.
fn conflict(survey: &Survey, standing: &HeadStatus) -> PostResponse {
    let blocking = blocking(&survey.findings);
    let mut metadata = Metadata {
        suggested_tasks: survey.suggested.clone(),
        free: survey.free.clone(),
        expected_by: ending(&blocking).map(|finding| finding.entry.free_from()).max(),
        ..blocking_metadata(&blocking, Some(survey.now))
    };
    let mut reason = blocking_reason(&blocking, standing.user());
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
    // Pending changes alone last until they are merged.
    let action = if metadata.retry_after.is_some() {
        Action::Wait
    } else {
        Action::SwitchTask
    };
    let orchestration = Orchestration::new(action, reason).with(metadata);
    let mut response = refusal(ErrorCode::LockConflict, orchestration, survey, standing);
    let mutual = survey.queued.iter().flat_map(|queued| &queued.mutual);
    response.warnings.extend(mutual.map(|(user, agent)| {
        format!(
            "MUTUAL_WAIT: You and {} each wait for files that the other holds: release yours, or agree on who goes first.",
            holder_name(user, agent.as_deref(), standing.user())
        )
    }));
    response
}

/// The refusal of a claim to write from a working copy that is behind, with all other conflicts.
fn stale(survey: &Survey, standing: &HeadStatus) -> PostResponse {
    let blocking = blocking(&survey.findings);
    let mut reason = standing.behind_reason();
    reason.push_str("; nothing was claimed");
    // Only a lock for writing is renewed by a claim to write.
    let held = survey.held.iter().filter(|held| held.status == LockMode::Writing);
    let held: Vec<&str> = held.map(|held| held.file_path.as_str()).collect();
    if !held.is_empty() {
        reason = format!(
            "{reason}. You can renew the locks that you hold, without other files: {}",
            list_paths(&held)
        );
    }
    if !blocking.is_empty() {
        reason = format!("{reason}. Also: {}", blocking_reason(&blocking, standing.user()));
    }
    let metadata = Metadata {
        remote_head: Some(survey.head.commit.to_string()),
        ..blocking_metadata(&blocking, None)
    };
    let orchestration = standing
        .with_pull(Orchestration::new(Action::Pull, reason))
        .with(metadata);
    refusal(ErrorCode::StaleHead, orchestration, survey, standing)
}

/// The refusal by the gate, with all other conflicts.
fn gate_refusal(survey: &Survey, standing: &HeadStatus, command: Option<Orchestration>) -> PostResponse {
    let code = survey.gate.refusal().unwrap_or(ErrorCode::Internal);
    let command = command.unwrap_or_else(|| Orchestration::new(Action::Stop, ""));
    let mut response = refusal(code, command, survey, standing);
    let blocking = blocking(&survey.findings);
    if !blocking.is_empty() {
        response.warnings.push(format!(
            "LOCK_CONFLICT: {}.",
            blocking_reason(&blocking, standing.user())
        ));
    }
    response
}

fn refusal(code: ErrorCode, orchestration: Orchestration, survey: &Survey, standing: &HeadStatus) -> PostResponse {
    let mut response = PostResponse::refusal(code, orchestration);
    response.warnings = standing.warnings(survey);
    response.warnings.extend(warnings(&survey.findings, standing.user()));
    response.conflicting_locks = others_locks(&survey.findings);
    response.locks_omitted = survey.omitted;
    response
}

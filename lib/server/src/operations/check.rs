//! The check of whether locks block an edit of some files. It changes nothing.

use std::collections::BTreeMap;

use coord_protocol::{Action, CheckRequest, CheckResponse, Membership, Metadata, Orchestration, Status};

use super::blocking::{blocking_findings, blocking_metadata, blocking_reason};
use super::claim_rules::{ClaimRules, parse_tool_use};
use super::interfaces::interface_notices;
use super::lock_views::{finding_warnings, memberships, others_locks, own_locks};
use super::policy_request::PolicyVerdict;
use super::work_request::{HeadStatus, WorkRequest, offline_warning};
use crate::admission::{Admission, AdmittedCall, Right};
use crate::app::App;
use crate::error::ApiError;
use crate::extension::GateVerdict;
use coord_auth::Caller;
use coord_domain::orchestration::{self, Facts, Operation};
use coord_domain::{CommitSha, FilePaths, Holder, LockMode};
use coord_state as state;
use coord_state::admission::{AdmissionTerms, Admitted, Question};
use coord_state::locks::{Relation, Survey};
use coord_store::{Store, StoreError};

/// A check that failed.
#[derive(Debug)]
pub struct CheckError {
    pub error: ApiError,
    /// The head of the branch, if it is known despite the error.
    pub head: Option<CommitSha>,
}

impl From<ApiError> for CheckError {
    fn from(error: ApiError) -> Self {
        CheckError { error, head: None }
    }
}

/// Checks the files of `body` for `caller`. `agent` is the header `X-Coord-Agent`, if sent.
///
/// # Errors
/// When a field is missing or invalid, the caller is denied, or store or source do not respond. Then
/// [`Refusal::of_check`](super::Refusal::of_check) is the response.
pub async fn check_as_sent(
    app: &App,
    body: &CheckRequest,
    caller: Caller,
    agent: Option<&str>,
) -> Result<CheckResponse, CheckError> {
    let request = WorkRequest::of_check(body, caller, agent)?;
    let mut response = check(app, &request, body.intent.unwrap_or(LockMode::Writing)).await?;
    response.warnings.extend(request.notes);
    Ok(response)
}

/// Checks the files of `request` for an edit with `intent`.
async fn check(app: &App, request: &WorkRequest, intent: LockMode) -> Result<CheckResponse, CheckError> {
    let mut admission = request.begin(app, Right::Read).await?;
    let tool_use = parse_tool_use(app, None, None)?;
    let mut call = CheckCall {
        rules: ClaimRules::new(app, request, &admission, &tool_use),
        paths: &request.paths,
        intent,
    };
    let survey = admission.run(&mut call).await;
    let mut survey = survey.map_err(|error| CheckError {
        error,
        head: admission.fetched_head().cloned(),
    })?;
    let mut notes = Vec::new();
    notes.extend(take_over_lead_locks(&mut survey, admission.holder()));
    admission.report_head(&survey.head, &mut notes);
    if survey.graph_version.is_none() {
        admission.report_missing_graph(&survey.head.commit);
    }
    let head_status = HeadStatus::new(request, &admission, &survey);
    let (verdict, policy) = call.rules.end_gate(&survey.gate);
    let mut response = respond(&head_status, &survey, &verdict, &policy.end(), notes);
    response.repo_head_ref = admission.head_ref();
    Ok(response)
}

struct CheckCall<'a> {
    rules: ClaimRules<'a>,
    paths: &'a FilePaths,
    intent: LockMode,
}

impl AdmittedCall for CheckCall<'_> {
    type Outcome = Survey;

    async fn make(&self, store: &dyn Store, terms: &AdmissionTerms<'_>) -> Result<Admitted<Survey>, StoreError> {
        let (policy, gate) = (self.rules.policy_terms(), self.rules.gate_terms());
        state::locks::check_status(store, terms, self.paths, self.intent, policy, &gate).await
    }

    async fn answer(&mut self, admission: &mut Admission<'_>, question: Question) -> Result<(), ApiError> {
        self.rules.answer(admission, question).await
    }
}

/// Removes the locks of a writer's lead from its findings, because the writer's claim takes them over. Returns a
/// warning about the lead's locks on the writer's files.
fn take_over_lead_locks(survey: &mut Survey, holder: &Holder) -> Option<String> {
    let lead = holder.agent_id.as_ref()?.lead()?;
    let mut files = Vec::new();
    survey.findings.retain(|finding| {
        let entry = &finding.entry;
        let is_of_lead = entry.user_id == holder.user_id.as_str() && entry.agent_id.as_deref() == Some(lead.as_str());
        let is_lock = matches!(finding.relation, Relation::Direct | Relation::Neighbor);
        if is_of_lead && finding.relation == Relation::Direct {
            files.push(format!("'{}'", entry.file_path));
        }
        !(is_of_lead && is_lock)
    });
    files.dedup();
    (!files.is_empty()).then(|| {
        format!(
            "ALREADY_HELD: Your lead '{}' holds {}; your claim takes its locks over (take_over).",
            lead.as_str(),
            files.join(", ")
        )
    })
}

fn respond(
    head_status: &HeadStatus,
    survey: &Survey,
    verdict: &GateVerdict,
    policy: &PolicyVerdict,
    mut notes: Vec<String>,
) -> CheckResponse {
    let blocking = blocking_findings(&survey.findings);
    let facts = Facts {
        is_behind: survey.is_behind,
        is_blocked: !blocking.is_empty(),
        refused: survey.gate.refusal(),
        ..Facts::default()
    };
    let action = orchestration::decide(Operation::Check, facts);
    let refusal = verdict.refusal.clone().filter(|_| facts.refused.is_some());
    let orchestration = match (refusal, action) {
        (Some(refusal), _) => refusal,
        (None, Action::SwitchTask) => {
            Orchestration::new(action, blocking_reason(&blocking, head_status.user())).with(Metadata {
                suggested_tasks: survey.suggested.clone(),
                free: survey.free.clone(),
                ..blocking_metadata(&blocking, None)
            })
        }
        (None, Action::Pull) => head_status
            .with_pull(Orchestration::new(action, head_status.behind_reason()))
            .with(Metadata {
                remote_head: Some(survey.head.commit.to_string()),
                ..Metadata::default()
            }),
        (None, _) => Orchestration::new(action, "No lock blocks these files"),
    };
    let your_teams = memberships(&survey.waiting);
    notes.extend(your_teams.iter().flat_map(Membership::warnings));
    notes.extend(head_status.warnings(survey));
    notes.extend(finding_warnings(&survey.findings, head_status.user()));
    if facts.refused.is_some() && facts.is_blocked {
        notes.push(format!(
            "LOCK_CONFLICT: {}.",
            blocking_reason(&blocking, head_status.user())
        ));
    }
    notes.extend(verdict.warnings.iter().cloned());
    notes.extend(policy.warnings());
    notes.extend(interface_notices(&survey.own));
    CheckResponse {
        status: orchestration::status(facts),
        locks: others_locks(&survey.findings),
        held: own_locks(survey),
        locks_omitted: survey.omitted,
        your_teams,
        warnings: notes,
        orchestration,
        error: None,
        repo_head_ref: None,
        repo_head: Some(survey.head.commit.to_string()),
    }
}

/// The response of a check that failed with `error`.
pub(super) fn offline_check(error: &ApiError, head: Option<&CommitSha>) -> CheckResponse {
    let body = error.body();
    let reason = format!("Coord cannot determine the locks: {}", body.message);
    CheckResponse {
        status: Status::Offline,
        repo_head: head.map(ToString::to_string),
        repo_head_ref: None,
        locks: BTreeMap::new(),
        held: BTreeMap::new(),
        locks_omitted: 0,
        your_teams: Vec::new(),
        warnings: vec![offline_warning(error)],
        orchestration: Orchestration::new(Action::Stop, reason),
        error: Some(body),
    }
}

use serde::Serialize;

use super::claimed_repositories::ClaimedRepositories;
use super::gate::{GateArgs, GateTerms};
use super::policy::{PolicyArgs, PolicyTerms};
use super::scripts::CLAIM;
use super::survey::{Survey, lookups, read_survey};
use crate::admission::{AdmissionTerms, Admitted, RequestKind, decode_admission};
use crate::expiry::Mark;
use crate::reply::{Reply, call};
use crate::request_keys::{Keys, change_keys, run_with_required_keys};
use coord_domain::{AgentId, CommitSha, FilePath, LockMode, LockReason, RepoId};
use coord_settings::Rates;
use coord_store::{Request, Script, Store, StoreError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// All files are held; their entries are in `own`.
    Claimed(Survey),
    /// Others' locks block the claim; nothing new is held.
    Conflict(Survey),
    /// Intents refuse the claim: [`Survey::gate`] says why; nothing new is held.
    Refused(Survey),
    /// A claim of new files for writing was refused because the working copy is behind; nothing new is held.
    Stale(Survey),
}

impl ClaimOutcome {
    /// The outcome of this name, as `modules/claim_files.lua` writes it.
    pub fn of(name: &str, survey: Survey) -> Option<ClaimOutcome> {
        Some(match name {
            "CLAIMED" => ClaimOutcome::Claimed(survey),
            "CONFLICT" => ClaimOutcome::Conflict(survey),
            "REFUSED" => ClaimOutcome::Refused(survey),
            "STALE" => ClaimOutcome::Stale(survey),
            _ => return None,
        })
    }

    pub fn survey(&self) -> &Survey {
        match self {
            ClaimOutcome::Claimed(survey)
            | ClaimOutcome::Conflict(survey)
            | ClaimOutcome::Refused(survey)
            | ClaimOutcome::Stale(survey) => survey,
        }
    }
}

/// A claim's files and terms.
#[derive(Clone, Copy)]
pub struct ClaimTerms<'a> {
    pub mode: LockMode,
    /// The rules of the branch, and the declared interfaces.
    pub policy: &'a PolicyTerms,
    /// The commit of the caller's working copy.
    pub agent_head: &'a CommitSha,
    pub message: &'a LockReason,
    /// Seconds until the locks expire, unless they are renewed.
    pub ttl_seconds: u32,
    /// Seconds for which the server repeats the claim, if it is refused.
    pub wait_seconds: u32,
    /// The repositories in which this process has seen claims.
    pub claimed: &'a ClaimedRepositories,
    /// Another agent of the same person, whose locks on the files are taken over: the lead agent, or an ended writer below it.
    pub take_over: Option<&'a AgentId>,
    pub paths: &'a [FilePath],
    /// The terms of intents.
    pub gate: GateTerms<'a>,
}

/// Claims all files, or none. One round trip, and a second one in rare cases: for a repository without a mark, or after a
/// refusal of this process's first claim there; see `mark_due.lua`.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the claim may have been made.
pub async fn claim<'a>(
    store: &dyn Store,
    terms: &AdmissionTerms<'a>,
    request: &ClaimTerms<'_>,
) -> Result<Admitted<ClaimOutcome>, StoreError> {
    let claim_once = |terms: AdmissionTerms<'a>, uses_all: bool| claim_once(store, terms, request, uses_all);
    let reply = run_with_required_keys(terms, request.gate.is_needed(), claim_once).await?;
    decode_admission(&reply, |reply| {
        let survey = read_survey(reply)?;
        let Some(outcome) = ClaimOutcome::of(&reply.outcome, survey) else {
            return reply.unknown();
        };
        outcome.survey().gate.record_uses(terms.uses);
        Ok(outcome)
    })
}

async fn claim_once(
    store: &dyn Store,
    terms: AdmissionTerms<'_>,
    request: &ClaimTerms<'_>,
    uses_all: bool,
) -> Result<Reply, StoreError> {
    if !request.claimed.contains(terms.repo) {
        return mark_and_claim(store, &terms, request, uses_all).await;
    }
    let keys = change_keys(&terms, uses_all);
    let args = claim_arguments(&terms, request, RequestKind::Claim, (&keys, uses_all));
    let reply = call(store, &CLAIM, keys, args).await?;
    if reply.outcome != "MARK_FIRST" {
        return Ok(reply);
    }
    let counted = AdmissionTerms {
        rates: Rates::NONE,
        ..terms
    };
    mark_and_claim(store, &counted, request, uses_all).await
}

async fn mark_and_claim(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    request: &ClaimTerms<'_>,
    uses_all: bool,
) -> Result<Reply, StoreError> {
    let keys = change_keys(terms, uses_all);
    let args = claim_arguments(terms, request, RequestKind::Marked, (&keys, uses_all));
    let claim = (&CLAIM, keys, args);
    let reply = mark_and_run(store, terms.repo, request.ttl_seconds, claim, |reply| {
        reply.outcome == "CLAIMED"
    })
    .await?;
    if reply.outcome == "CLAIMED" {
        request.claimed.insert(terms.repo);
    }
    Ok(reply)
}

/// Puts the repository on the due list, and runs a script that claims locks for `ttl_seconds`. Removes the repository again unless the
/// script `is_granted` by its reply.
pub async fn mark_and_run(
    store: &dyn Store,
    repo: &RepoId,
    ttl_seconds: u32,
    (script, keys, args): (&'static Script, Keys, Vec<Vec<u8>>),
    is_granted: impl FnOnce(&Reply) -> bool,
) -> Result<Reply, StoreError> {
    let mark = Mark::new(repo, ttl_seconds);
    let claim = Request::Script {
        script,
        keys: keys.into(),
        args,
    };
    let mut replies = store.run(vec![mark.request(), claim]).await?.into_iter();
    let is_new = Mark::is_new(replies.next())?;
    let reply = Reply::open(script, replies.next())?;
    if is_new && !is_granted(&reply) {
        mark.unmark(store).await?;
    }
    Ok(reply)
}

/// Arguments of `claim.lua` beside the terms of the admission.
#[derive(Serialize)]
struct ClaimArgs<'a> {
    wanted: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<GateArgs<'a>>,
    policy: PolicyArgs<'a>,
    agent_head: &'a str,
    message: &'a str,
    ttl: u32,
    repository: &'a str,
    lookups: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    takes_over: Option<&'a str>,
    paths: &'a [FilePath],
}

fn claim_arguments(
    terms: &AdmissionTerms<'_>,
    request: &ClaimTerms<'_>,
    kind: RequestKind,
    (keys, uses_all): (&Keys, bool),
) -> Vec<Vec<u8>> {
    let claim = ClaimArgs {
        wanted: request.mode.as_str(),
        gate: uses_all.then(|| request.gate.to_args()),
        policy: request.policy.to_args(request.paths, request.wait_seconds),
        agent_head: request.agent_head.as_str(),
        message: request.message.as_str(),
        ttl: request.ttl_seconds,
        repository: terms.repo.as_str(),
        lookups: lookups(request.paths),
        takes_over: request.take_over.map(AgentId::as_str),
        paths: request.paths,
    };
    terms.args(kind, request.paths.len(), keys, &claim)
}

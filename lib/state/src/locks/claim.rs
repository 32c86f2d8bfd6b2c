use serde::Serialize;

use super::claimed_repositories::ClaimedRepositories;
use super::gate::{GateArgs, GateTerms};
use super::policy::{PolicyArgs, PolicyTerms};
use super::scripts::CLAIM;
use super::survey::{Survey, lookups, read_survey};
use crate::admission::{AdmissionTerms, Admitted, Kind, decode_admission};
use crate::expiry::Mark;
use crate::reply::{Reply, call};
use crate::request_keys::{Keys, change_keys, run_with_required_keys};
use coord_domain::{AgentId, CommitSha, FilePath, LockMode, LockReason, RepoId};
use coord_settings::Rates;
use coord_store::{Request, Script, Store, StoreError};

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// All files are held; their entries are in `own`.
    Claimed(Survey),
    /// Others' locks block; nothing new is held.
    Conflict(Survey),
    /// Intents do not let it in: [`Survey::gate`] says why; nothing new is held.
    Refused(Survey),
    /// Writing new files was refused because the working copy is behind; nothing new is held.
    Stale(Survey),
}

impl ClaimOutcome {
    /// The survey of the claim.
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
    pub claim: LockMode,
    /// The rules of the branch, and the declared interfaces.
    pub policy: &'a PolicyTerms,
    /// The commit of the caller's working copy.
    pub agent_head: &'a CommitSha,
    pub message: &'a LockReason,
    /// Seconds until the locks expire, unless they are renewed.
    pub ttl_seconds: u32,
    /// Seconds for which the server makes the claim again, if it is refused.
    pub wait_seconds: u32,
    /// Where this process has seen claims.
    pub claimed: &'a ClaimedRepositories,
    /// Another agent of the same person, whose locks on the files are taken over: its lead, or a writer below it that has ended.
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
    entry: &AdmissionTerms<'a>,
    wanted: &ClaimTerms<'_>,
) -> Result<Admitted<ClaimOutcome>, StoreError> {
    let ask = |entry: AdmissionTerms<'a>, uses_all: bool| claim_once(store, entry, wanted, uses_all);
    let reply = run_with_required_keys(entry, wanted.gate.is_needed(), ask).await?;
    decode_admission(reply, |reply| {
        let outcome = ClaimOutcome::read(&reply)?;
        outcome.survey().gate.record_uses(entry.uses);
        Ok(outcome)
    })
}

async fn claim_once(
    store: &dyn Store,
    entry: AdmissionTerms<'_>,
    wanted: &ClaimTerms<'_>,
    uses_all: bool,
) -> Result<Reply, StoreError> {
    if !wanted.claimed.contains(entry.repo) {
        return mark_and_claim(store, &entry, wanted, uses_all).await;
    }
    let keys = change_keys(&entry, uses_all);
    let args = claim_arguments(&entry, wanted, Kind::Claim, (&keys, uses_all));
    let reply = call(store, &CLAIM, keys, args).await?;
    if reply.outcome != "MARK_FIRST" {
        return Ok(reply);
    }
    let counted = AdmissionTerms {
        rates: Rates::NONE,
        ..entry
    };
    mark_and_claim(store, &counted, wanted, uses_all).await
}

async fn mark_and_claim(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    wanted: &ClaimTerms<'_>,
    uses_all: bool,
) -> Result<Reply, StoreError> {
    let keys = change_keys(entry, uses_all);
    let args = claim_arguments(entry, wanted, Kind::Marked, (&keys, uses_all));
    let claim = (&CLAIM, keys, args);
    let reply = mark_and_run(store, entry.repo, wanted.ttl_seconds, claim, |reply| {
        reply.outcome == "CLAIMED"
    })
    .await?;
    if reply.outcome == "CLAIMED" {
        wanted.claimed.insert(entry.repo);
    }
    Ok(reply)
}

/// Puts the repository on the due list, and runs a script that claims locks for `ttl_seconds`; removes it again unless the script
/// `holds` some then.
pub async fn mark_and_run(
    store: &dyn Store,
    repo: &RepoId,
    ttl_seconds: u32,
    (script, keys, args): (&'static Script, Keys, Vec<Vec<u8>>),
    holds: impl FnOnce(&Reply) -> bool,
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
    if is_new && !holds(&reply) {
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
    paths: Vec<&'a str>,
}

fn claim_arguments(
    entry: &AdmissionTerms<'_>,
    wanted: &ClaimTerms<'_>,
    kind: Kind,
    (keys, uses_all): (&Keys, bool),
) -> Vec<Vec<u8>> {
    let claim = ClaimArgs {
        wanted: wanted.claim.as_str(),
        gate: uses_all.then(|| wanted.gate.to_args()),
        policy: wanted.policy.to_args(wanted.paths, wanted.wait_seconds),
        agent_head: wanted.agent_head.as_str(),
        message: wanted.message.as_str(),
        ttl: wanted.ttl_seconds,
        repository: entry.repo.as_str(),
        lookups: lookups(wanted.paths),
        takes_over: wanted.take_over.map(AgentId::as_str),
        paths: wanted.paths.iter().map(FilePath::as_str).collect(),
    };
    entry.request(kind, wanted.paths.len(), keys, &claim)
}

impl ClaimOutcome {
    /// Reads the answer of `modules/claim_files.lua`.
    fn read(reply: &Reply) -> Result<ClaimOutcome, StoreError> {
        let survey = read_survey(reply)?;
        ClaimOutcome::of(&reply.outcome, survey).ok_or_else(|| reply.malformed("an unknown outcome"))
    }

    /// The outcome of this name.
    pub fn of(name: &str, survey: Survey) -> Option<ClaimOutcome> {
        Some(match name {
            "CLAIMED" => ClaimOutcome::Claimed(survey),
            "CONFLICT" => ClaimOutcome::Conflict(survey),
            "REFUSED" => ClaimOutcome::Refused(survey),
            "STALE" => ClaimOutcome::Stale(survey),
            _ => return None,
        })
    }
}

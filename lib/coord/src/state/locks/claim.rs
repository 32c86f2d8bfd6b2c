use super::claimed_repositories::ClaimedRepositories;
use super::gate::{Gate, GateTerms};
use super::policy::PolicyTerms;
use super::scripts::CLAIM;
use super::survey::{ClaimCost, Held, Queued, Survey, lookups, read_suggested, read_survey};
use crate::domain::{AgentId, CommitSha, FilePath, LockMode, LockReason, RepoId};
use crate::state::admission::{AdmissionTerms, Admitted, Kind, Rates, admitted};
use crate::state::expiry::Mark;
use crate::state::reply::{Reply, arguments, call};
use crate::state::request_keys::lock_keys;
use crate::state::teams::Membership;
use crate::store::{Request, Script, Store, StoreError};

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

/// What is claimed.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The mode.
    pub claim: LockMode,
    /// The rules of the branch, and what the caller says of the interfaces.
    pub policy: &'a PolicyTerms,
    /// The commit of the caller's working copy.
    pub agent_head: &'a CommitSha,
    /// The caller's reason.
    pub message: &'a LockReason,
    /// Seconds until the locks expire, unless they are renewed.
    pub ttl_seconds: u32,
    /// Seconds for which the server makes the claim again, if it is refused.
    pub wait_seconds: u32,
    /// Where this process has seen claims.
    pub claimed: &'a ClaimedRepositories,
    /// Another agent of the same person, whose locks on the files are taken over: its lead, or a writer below it that has ended.
    pub take_over: Option<&'a AgentId>,
    /// The files.
    pub paths: &'a [FilePath],
    /// What it says of intents.
    pub gate: GateTerms<'a>,
}

/// Claims all files, or none. One round trip, and a second one in rare cases: for a repository without a mark, or after a
/// refusal of this process's first claim there; see `mark_due.lua`.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the claim may have been made.
pub async fn claim(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    wanted: &Wanted<'_>,
) -> Result<Admitted<ClaimOutcome>, StoreError> {
    if !wanted.claimed.contains(entry.repo) {
        return mark_and_claim(store, entry, wanted).await;
    }
    let reply = call(
        store,
        &CLAIM,
        lock_keys(entry),
        claim_arguments(entry, wanted, Kind::Claim),
    )
    .await?;
    if reply.outcome != "MARK_FIRST" {
        return admitted(reply, read_outcome);
    }
    let counted = AdmissionTerms {
        rates: Rates::NONE,
        ..*entry
    };
    mark_and_claim(store, &counted, wanted).await
}

async fn mark_and_claim(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    wanted: &Wanted<'_>,
) -> Result<Admitted<ClaimOutcome>, StoreError> {
    let args = claim_arguments(entry, wanted, Kind::Marked);
    let claim = (&CLAIM, lock_keys(entry), args);
    let reply = mark_and_run(store, entry.repo, wanted.ttl_seconds, claim, |reply| {
        reply.outcome == "CLAIMED"
    })
    .await?;
    if reply.outcome == "CLAIMED" {
        wanted.claimed.insert(entry.repo);
    }
    admitted(reply, read_outcome)
}

/// Puts the repository on the due list, and runs a script that claims locks for `ttl_seconds`; removes it again unless the script
/// `holds` some then.
pub(in crate::state) async fn mark_and_run(
    store: &dyn Store,
    repo: &RepoId,
    ttl_seconds: u32,
    (script, keys, args): (&'static Script, Vec<String>, Vec<Vec<u8>>),
    holds: impl FnOnce(&Reply) -> bool,
) -> Result<Reply, StoreError> {
    let mark = Mark::new(repo, ttl_seconds);
    let claim = Request::Script { script, keys, args };
    let mut replies = store.run(vec![mark.request(), claim]).await?.into_iter();
    let is_new = Mark::is_new(replies.next())?;
    let reply = Reply::open(script, replies.next())?;
    if is_new && !holds(&reply) {
        mark.take_back(store).await?;
    }
    Ok(reply)
}

fn claim_arguments(entry: &AdmissionTerms<'_>, wanted: &Wanted<'_>, kind: Kind) -> Vec<Vec<u8>> {
    let mut args = entry.arguments(kind, wanted.paths.len());
    args.extend(wanted.gate.arguments());
    args.extend(arguments([wanted.claim.as_str()]));
    args.extend(wanted.policy.arguments(wanted.paths));
    args.extend(arguments([
        wanted.agent_head.as_str(),
        wanted.message.as_str(),
        &wanted.ttl_seconds.to_string(),
        entry.repo.as_str(),
        &lookups(wanted.paths),
        wanted.take_over.map_or("", AgentId::as_str),
        &wanted.wait_seconds.to_string(),
        &wanted.policy.patience_seconds.to_string(),
    ]));
    args.extend(wanted.paths.iter().map(|path| path.as_str().as_bytes().to_vec()));
    args
}

fn read_outcome(mut reply: Reply) -> Result<ClaimOutcome, StoreError> {
    let outcome = ClaimOutcome::read(&mut reply)?;
    let waiting = Membership::read(&mut reply)?;
    let suggested = read_suggested(&mut reply)?;
    let free = reply.texts()?;
    Ok(outcome.with(|survey| {
        survey.waiting = waiting;
        survey.suggested = suggested;
        survey.free = free;
    }))
}

impl ClaimOutcome {
    /// Reads what `includes/claim_files.lua` gives.
    pub(in crate::state) fn read(reply: &mut Reply) -> Result<ClaimOutcome, StoreError> {
        match reply.outcome.as_str() {
            "CLAIMED" => Ok(ClaimOutcome::Claimed(read_claim(reply)?)),
            "CONFLICT" => Ok(ClaimOutcome::Conflict(read_claim(reply)?)),
            "REFUSED" => Ok(ClaimOutcome::Refused(read_claim(reply)?)),
            "STALE" => Ok(ClaimOutcome::Stale(read_claim(reply)?)),
            _ => Err(reply.malformed("an unknown outcome")),
        }
    }

    /// The same with a changed survey.
    pub(in crate::state) fn with(mut self, change: impl FnOnce(&mut Survey)) -> Self {
        match &mut self {
            ClaimOutcome::Claimed(survey)
            | ClaimOutcome::Conflict(survey)
            | ClaimOutcome::Refused(survey)
            | ClaimOutcome::Stale(survey) => change(survey),
        }
        self
    }
}

fn read_claim(reply: &mut Reply) -> Result<Survey, StoreError> {
    let survey = read_survey(reply)?;
    let held = reply.tuples(|tuple| {
        Ok(Held {
            file_path: tuple.text()?,
            status: match tuple.text()?.as_str() {
                "READING" => LockMode::Reading,
                "WRITING" => LockMode::Writing,
                _ => return Err(tuple.malformed("an unknown status")),
            },
            since: tuple.number()?,
            message: tuple.text()?,
            taken_from: tuple.optional_text()?,
        })
    })?;
    let gate = Gate::read(reply)?;
    let queued = Queued::read(reply)?;
    let cost = ClaimCost::read(reply)?;
    Ok(Survey {
        held,
        gate,
        queued,
        cost,
        ..survey
    })
}

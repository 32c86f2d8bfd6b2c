use super::claimed_repositories::ClaimedRepositories;
use super::gate::{Gate, GateTerms};
use super::keys;
use super::scripts::CLAIM;
use super::survey::{Held, Survey, lookups, read_survey};
use crate::domain::{CommitSha, FilePath, LockMode, LockReason, NeighborPolicy};
use crate::state::admission::{AdmissionTerms, Admitted, Kind, Rates, admitted};
use crate::state::expiry::Mark;
use crate::state::reply::{Reply, arguments, call};
use crate::state::request_keys::branch_keys;
use crate::state::teams::Waiting;
use crate::store::{Request, Store, StoreError};

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
    /// The effect of a neighbor that is locked for writing.
    pub policy: NeighborPolicy,
    /// The commit of the caller's working copy.
    pub agent_head: &'a CommitSha,
    /// The caller's reason.
    pub message: &'a LockReason,
    /// Seconds until the locks expire, unless they are renewed.
    pub ttl_seconds: u32,
    /// Where this process has seen claims.
    pub claimed: &'a ClaimedRepositories,
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
        claim_keys(entry),
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

/// Puts the repository on the due list, and claims; removes it again if the claim is refused.
async fn mark_and_claim(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    wanted: &Wanted<'_>,
) -> Result<Admitted<ClaimOutcome>, StoreError> {
    let mark = Mark::new(entry.repo, wanted.ttl_seconds);
    let claim = Request::Script {
        script: &CLAIM,
        keys: claim_keys(entry),
        args: claim_arguments(entry, wanted, Kind::Marked),
    };
    let mut replies = store.run(vec![mark.request(), claim]).await?.into_iter();
    let is_new = Mark::is_new(replies.next())?;
    let reply = Reply::open(&CLAIM, replies.next())?;
    if reply.outcome == "CLAIMED" {
        wanted.claimed.insert(entry.repo);
    } else if is_new {
        mark.take_back(store).await?;
    }
    admitted(reply, read_outcome)
}

fn claim_keys(entry: &AdmissionTerms<'_>) -> Vec<String> {
    let mut keys = branch_keys(entry);
    keys.push(keys::releases(entry.repo));
    keys.push(keys::token(entry.repo));
    keys
}

fn claim_arguments(entry: &AdmissionTerms<'_>, wanted: &Wanted<'_>, kind: Kind) -> Vec<Vec<u8>> {
    let mut args = entry.arguments(kind, wanted.paths.len());
    args.extend(wanted.gate.arguments());
    args.extend(arguments([
        wanted.claim.as_str(),
        wanted.policy.as_str(),
        wanted.agent_head.as_str(),
        wanted.message.as_str(),
        &wanted.ttl_seconds.to_string(),
        entry.repo.as_str(),
        &lookups(wanted.paths),
    ]));
    args.extend(wanted.paths.iter().map(|path| path.as_str().as_bytes().to_vec()));
    args
}

fn read_outcome(reply: Reply) -> Result<ClaimOutcome, StoreError> {
    match reply.outcome.as_str() {
        "CLAIMED" => Ok(ClaimOutcome::Claimed(read_claim(reply)?)),
        "CONFLICT" => Ok(ClaimOutcome::Conflict(read_claim(reply)?)),
        "REFUSED" => Ok(ClaimOutcome::Refused(read_claim(reply)?)),
        "STALE" => Ok(ClaimOutcome::Stale(read_claim(reply)?)),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

fn read_claim(mut reply: Reply) -> Result<Survey, StoreError> {
    let survey = read_survey(&mut reply)?;
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
        })
    })?;
    let gate = Gate::read(&mut reply)?;
    let waiting = Waiting::read(&mut reply)?;
    Ok(Survey {
        held,
        gate,
        waiting,
        ..survey
    })
}

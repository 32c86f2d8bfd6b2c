//! The files of a task, which are claimed and released with it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::outcome::{TaskClaim, TaskEnd};
use super::scripts::{CLAIM_TASK, NEXT_TASK};
use crate::teams::{TeamOutcome, TeamTerms, outcome, team_and_lock_keys, team_keys};
use coord_domain::CommitSha;
use coord_settings::Rates;
use coord_state::admission::{AdmissionTerms, PATHS_OF_A_REQUEST, RequestKind, is_false};
use coord_state::locks::{
    ClaimOutcome, GateArgs, GateTerms, JudgedFile, MAX_IMPORTER_BYTES, MAX_IMPORTERS, PolicyArgs, PolicyTerms,
    ReleaseAnswer, ReleaseOutcome, SurveyAnswer, mark_and_run, verdicts,
};
use coord_state::reply::{Reply, call};
use coord_store::{Script, Store, StoreError};

/// How a claim of a task handles its files.
#[derive(Clone, Copy, Debug)]
pub enum ClaimedFiles<'a> {
    /// They are not claimed.
    Unchanged,
    /// The request has no head of a working copy, which a claim of files needs.
    NoHead,
    /// They are claimed for writing.
    Claimed {
        /// The rules of the branch, and the files that were judged by them.
        policy: &'a PolicyTerms,
        /// The commit of the caller's working copy.
        agent_head: &'a CommitSha,
        /// The terms of intents; their judgment names the files that were judged.
        gate: GateTerms<'a>,
    },
}

impl ClaimedFiles<'_> {
    /// The request with the fields of `own` and of `modules/file_claims.lua`.
    fn args<'s, T>(&'s self, terms: &'s AdmissionTerms<'_>, own: &'s T) -> FileClaimArgs<'s, T> {
        let (file_mode, claim) = match self {
            ClaimedFiles::Unchanged => (None, None),
            ClaimedFiles::NoHead => (Some("NO_HEAD"), None),
            ClaimedFiles::Claimed {
                policy,
                agent_head,
                gate,
            } => {
                let judged_paths = gate.judgment.map(|judgment| judgment.files.as_slice());
                let claim = FileClaim {
                    gate: gate.to_args(),
                    policy: policy.task_args(),
                    agent_head: agent_head.as_str(),
                    repository: terms.repo.as_str(),
                    paths_of_request: PATHS_OF_A_REQUEST,
                    judged_paths: judged_paths.unwrap_or_default(),
                };
                (Some("HEAD"), Some(claim))
            }
        };
        FileClaimArgs { own, file_mode, claim }
    }
}

#[derive(Serialize)]
struct FileClaimArgs<'a, T> {
    #[serde(flatten)]
    own: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_mode: Option<&'static str>,
    #[serde(flatten)]
    claim: Option<FileClaim<'a>>,
}

#[derive(Serialize)]
struct FileClaim<'a> {
    gate: GateArgs<'a>,
    policy: PolicyArgs<'a>,
    agent_head: &'a str,
    repository: &'a str,
    paths_of_request: usize,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    judged_paths: &'a [String],
}

/// How the completion or release of a task handles its files.
#[derive(Clone, Copy, Debug)]
pub enum ReleasedFiles<'a> {
    /// They are not released.
    Unchanged,
    /// The request has no head of a working copy, which a release of files needs.
    NoHead,
    /// They are released, if the branch has the work.
    Released {
        /// The commit that the caller has pushed.
        new_head: Option<&'a CommitSha>,
        /// The commit of its working copy.
        agent_head: &'a CommitSha,
        /// Whether a source can be asked about work that the store does not know.
        can_ask: bool,
        /// The verdicts of the source.
        judged_files: &'a [JudgedFile],
    },
    /// They are released without a push.
    Abandoned,
}

impl ReleasedFiles<'_> {
    /// Whether the script needs the KEYS of locks.
    fn need_locks(&self) -> bool {
        matches!(self, ReleasedFiles::Released { .. } | ReleasedFiles::Abandoned)
    }

    /// The request with the fields of `own` and of `modules/release_terms.lua`.
    fn args<'s, T>(&'s self, own: &'s T) -> FileReleaseArgs<'s, T> {
        let (file_mode, new_head, agent_head, can_ask, judged_files) = match self {
            ReleasedFiles::Unchanged => (None, None, None, false, &[] as &[JudgedFile]),
            ReleasedFiles::NoHead => (Some("NO_HEAD"), None, None, false, &[] as &[JudgedFile]),
            ReleasedFiles::Abandoned => (Some("ABANDON"), None, None, false, &[] as &[JudgedFile]),
            ReleasedFiles::Released {
                new_head,
                agent_head,
                can_ask,
                judged_files,
            } => (
                Some("HEAD"),
                new_head.map(CommitSha::as_str),
                Some(agent_head.as_str()),
                *can_ask,
                *judged_files,
            ),
        };
        FileReleaseArgs {
            own,
            file_mode,
            new_head,
            agent_head,
            most_importers: MAX_IMPORTERS,
            most_importer_bytes: MAX_IMPORTER_BYTES,
            can_ask,
            paths_of_request: PATHS_OF_A_REQUEST,
            verdicts: verdicts(judged_files),
        }
    }
}

#[derive(Serialize)]
struct FileReleaseArgs<'a, T> {
    #[serde(flatten)]
    own: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_head: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_head: Option<&'a str>,
    most_importers: usize,
    most_importer_bytes: usize,
    #[serde(skip_serializing_if = "is_false")]
    can_ask: bool,
    paths_of_request: usize,
    #[serde(skip_serializing_if = "HashMap::is_empty")]
    verdicts: HashMap<&'a str, String>,
}

/// The answer `FILES` of a claim.
#[derive(Deserialize)]
struct RefusedClaim {
    id: String,
    outcome: String,
    files: SurveyAnswer,
}

/// The answer `FILES` of the end of a claim.
#[derive(Deserialize)]
struct RefusedRelease {
    outcome: String,
    files: ReleaseAnswer,
}

/// Runs a script that claims a task for `seconds`, with the fields of `own`. Once for each repository, and again every ten minutes, this
/// needs a second round trip; see `mark_due.lua`.
pub(super) async fn run_claim(
    store: &dyn Store,
    script: &'static Script,
    terms: &TeamTerms<'_>,
    seconds: u32,
    own: &impl Serialize,
    files: &ClaimedFiles<'_>,
    read: impl FnOnce(&Reply) -> Result<TaskClaim, StoreError>,
) -> TeamOutcome<TaskClaim> {
    debug_assert!([CLAIM_TASK.name, NEXT_TASK.name].contains(&script.name));
    let request = files.args(&terms.admission, own);
    let read = |reply: &Reply| match reply.outcome.as_str() {
        "FILES" => {
            let refused: RefusedClaim = reply.object()?;
            let outcome = ClaimOutcome::of(&refused.outcome, refused.files.survey(reply.now));
            Ok(TaskClaim::Files {
                id: refused.id,
                because: Box::new(outcome.ok_or_else(|| reply.malformed("an unknown claim"))?),
            })
        }
        _ => read(reply),
    };
    let (keys, kind) = match files {
        ClaimedFiles::Claimed { .. } => (team_and_lock_keys(&terms.admission, terms.team), RequestKind::Claim),
        ClaimedFiles::Unchanged | ClaimedFiles::NoHead => (team_keys(&terms.admission, terms.team), RequestKind::Read),
    };
    let args = terms.args((kind, 1), &keys, &request);
    let reply = call(store, script, keys.clone(), args).await?;
    if reply.outcome != "MARK_FIRST" {
        return outcome(&reply, read);
    }
    // The first run has counted the request.
    let counted = TeamTerms {
        admission: AdmissionTerms {
            rates: Rates::NONE,
            ..terms.admission
        },
        ..*terms
    };
    let args = counted.args((RequestKind::Marked, 1), &keys, &request);
    let is_granted = |reply: &Reply| reply.outcome.starts_with("CLAIMED") || reply.outcome.starts_with("RENEWED");
    let reply = mark_and_run(store, terms.admission.repo, seconds, (script, keys, args), is_granted).await?;
    outcome(&reply, read)
}

/// Runs a script that ends the claim of a task, with the fields of `own`.
pub(super) async fn run_release(
    store: &dyn Store,
    script: &'static Script,
    terms: &TeamTerms<'_>,
    own: &impl Serialize,
    files: &ReleasedFiles<'_>,
    read: impl FnOnce(&Reply) -> Result<TaskEnd, StoreError>,
) -> TeamOutcome<TaskEnd> {
    let keys = match files.need_locks() {
        true => team_and_lock_keys(&terms.admission, terms.team),
        false => team_keys(&terms.admission, terms.team),
    };
    let args = terms.args((RequestKind::Release, 1), &keys, &files.args(own));
    let reply = call(store, script, keys, args).await?;
    outcome(&reply, |reply| match reply.outcome.as_str() {
        "FILES" => {
            let refused: RefusedRelease = reply.object()?;
            let outcome = ReleaseOutcome::of(&refused.outcome, refused.files).map(TaskEnd::Files);
            outcome.ok_or_else(|| reply.malformed("an unknown release"))
        }
        _ => read(reply),
    })
}

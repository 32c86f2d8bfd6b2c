//! The files of a task, which are claimed and given back with it.

use super::claim::{TaskClaim, TaskEnd};
use super::scripts::{CLAIM_TASK, NEXT_TASK};
use crate::domain::CommitSha;
use crate::state::admission::{AdmissionTerms, Admitted, Denial, Kind, PATHS_OF_A_REQUEST, Question, Rates};
use crate::state::locks::{
    ClaimOutcome, GateTerms, Judged, MOST_IMPORTER_BYTES, MOST_IMPORTERS, PolicyTerms, ReleaseOutcome, mark_and_run,
    read_suggested,
};
use crate::state::reply::{Reply, arguments, call};
use crate::state::team_keys::{team_and_lock_keys, team_keys};
use crate::state::teams::{TeamOutcome, TeamTerms, admit_by, outcome, team_arguments};
use crate::store::{Script, Store, StoreError};

/// What becomes of the files of a task that is claimed.
#[derive(Clone, Copy, Debug)]
pub enum FilesOfClaim<'a> {
    /// They are left alone.
    LeftAlone,
    /// The request has no head of a working copy, which they take.
    NoHead,
    /// They are claimed for writing.
    Claimed {
        /// The rules of the branch, and the files that were judged by them.
        policy: &'a PolicyTerms,
        /// The commit of the caller's working copy.
        agent_head: &'a CommitSha,
        /// What is said of intents; the judgement names the files that were judged.
        gate: GateTerms<'a>,
    },
}

impl FilesOfClaim<'_> {
    pub(super) fn mode(&self) -> &'static str {
        match self {
            FilesOfClaim::LeftAlone => "",
            FilesOfClaim::NoHead => "NO_HEAD",
            FilesOfClaim::Claimed { .. } => "HEAD",
        }
    }

    /// Those of `tasks/includes/file_claims.lua`.
    fn arguments(&self, terms: &AdmissionTerms<'_>) -> Vec<Vec<u8>> {
        let FilesOfClaim::Claimed {
            policy,
            agent_head,
            gate,
        } = self
        else {
            return Vec::new();
        };
        let mut args = gate.arguments();
        args.extend(policy.arguments_of_task());
        args.extend(arguments([
            agent_head.as_str(),
            terms.repo.as_str(),
            &PATHS_OF_A_REQUEST.to_string(),
        ]));
        let judged = gate.judgement.map(|judgement| judgement.files.as_slice());
        args.extend(judged.unwrap_or_default().iter().map(|file| file.as_bytes().to_vec()));
        args
    }
}

/// What became of the files of a task that is completed or given back.
#[derive(Clone, Copy, Debug)]
pub enum FilesOfRelease<'a> {
    /// They are left alone.
    LeftAlone,
    /// The request has no head of a working copy, which they take.
    NoHead,
    /// They are given back, if the branch has the work.
    GivenBack {
        /// The commit that the caller has pushed.
        new_head: Option<&'a CommitSha>,
        /// The commit of its working copy.
        agent_head: &'a CommitSha,
        /// Whether a source can be asked about work that the store does not know.
        can_ask: bool,
        /// The verdicts of the source.
        judged: &'a [Judged],
    },
    /// They are given back without a push.
    Abandoned,
}

impl FilesOfRelease<'_> {
    /// Whether the script looks at locks.
    fn are_looked_at(&self) -> bool {
        matches!(self, FilesOfRelease::GivenBack { .. } | FilesOfRelease::Abandoned)
    }

    /// Those of `tasks/includes/release_terms.lua`.
    fn arguments(&self) -> Vec<Vec<u8>> {
        let (mode, new_head, agent_head, can_ask, judged) = match self {
            FilesOfRelease::LeftAlone => return arguments([""]),
            FilesOfRelease::NoHead => return arguments(["NO_HEAD"]),
            FilesOfRelease::Abandoned => ("ABANDON", "", "", false, &[] as &[Judged]),
            FilesOfRelease::GivenBack {
                new_head,
                agent_head,
                can_ask,
                judged,
            } => {
                let new_head = new_head.map_or("", CommitSha::as_str);
                ("HEAD", new_head, agent_head.as_str(), *can_ask, *judged)
            }
        };
        let mut args = arguments([
            mode,
            new_head,
            agent_head,
            &MOST_IMPORTERS.to_string(),
            &MOST_IMPORTER_BYTES.to_string(),
            if can_ask { "1" } else { "0" },
            &PATHS_OF_A_REQUEST.to_string(),
        ]);
        for verdict in judged {
            args.push(verdict.path.as_bytes().to_vec());
            args.push(verdict.text().into_bytes());
        }
        args
    }
}

/// Runs a script that claims a task for `seconds`. Once for each repository, and again every ten minutes, that takes a second round
/// trip; see `mark_due.lua`.
pub(super) async fn run_claim(
    store: &dyn Store,
    script: &'static Script,
    terms: &TeamTerms<'_>,
    seconds: u32,
    mut own: Vec<Vec<u8>>,
    files: &FilesOfClaim<'_>,
    read: impl FnOnce(&mut Reply) -> Result<TaskClaim, StoreError>,
) -> TeamOutcome<TaskClaim> {
    debug_assert!([CLAIM_TASK.name, NEXT_TASK.name].contains(&script.name));
    own.extend(files.arguments(&terms.admission));
    let read = |mut reply: Reply| match reply.outcome.as_str() {
        "FILES" => {
            let outcome = reply.nested(ClaimOutcome::read)?;
            let suggested = read_suggested(&mut reply)?;
            Ok(TaskClaim::Files {
                id: reply.text()?,
                because: Box::new(outcome.with(|survey| survey.suggested = suggested)),
            })
        }
        _ => read(&mut reply),
    };
    let with_locks = matches!(files, FilesOfClaim::Claimed { .. });
    let (keys, kind) = match with_locks {
        true => (team_and_lock_keys(&terms.admission, terms.team), Kind::Claim),
        false => (team_keys(&terms.admission, terms.team), Kind::Read),
    };
    let args = team_arguments(terms, kind, own.clone());
    let reply = call(store, script, keys.clone(), args).await?;
    if reply.outcome != "MARK_FIRST" {
        return outcome(reply, read);
    }
    // It was counted.
    let counted = TeamTerms {
        admission: AdmissionTerms {
            rates: Rates::NONE,
            ..terms.admission
        },
        ..*terms
    };
    let args = team_arguments(&counted, Kind::Marked, own);
    let holds = |reply: &Reply| reply.outcome.starts_with("CLAIMED") || reply.outcome.starts_with("RENEWED");
    let marked = mark_and_run(store, terms.admission.repo, seconds, (script, keys, args), holds).await?;
    outcome(marked, read)
}

/// Runs a script that ends the claim of a task.
pub(super) async fn run_release(
    store: &dyn Store,
    script: &'static Script,
    terms: &TeamTerms<'_>,
    mut own: Vec<Vec<u8>>,
    files: &FilesOfRelease<'_>,
    read: impl FnOnce(&mut Reply) -> Result<TaskEnd, StoreError>,
) -> TeamOutcome<TaskEnd> {
    own.extend(files.arguments());
    let keys = match files.are_looked_at() {
        true => team_and_lock_keys(&terms.admission, terms.team),
        false => team_keys(&terms.admission, terms.team),
    };
    let args = team_arguments(terms, Kind::Release, own);
    admit_by(call(store, script, keys, args).await?, |mut reply| {
        if reply.outcome != "FILES" {
            return read(&mut reply).map(Admitted::Outcome);
        }
        reply.nested(|files| match Question::read(files)? {
            Some(question) => Ok(Admitted::Denied(Denial::Question(question))),
            None => read_release(files).map(|outcome| Admitted::Outcome(TaskEnd::Files(outcome))),
        })
    })
}

/// Reads the outcome of a release of files, behind which is nothing.
pub(super) fn read_release(reply: &mut Reply) -> Result<ReleaseOutcome, StoreError> {
    ReleaseOutcome::read(reply, |_| Ok(Vec::new()))
}

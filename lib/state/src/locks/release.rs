use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::scripts::RELEASE;
use super::written_file::WrittenFile;
use crate::admission::{AdmissionTerms, Admitted, ReportedHead, RequestKind, decode_admission, is_false};
use crate::reply::{JsonText, call, unwrap_json_texts};
use crate::request_keys::{change_keys, run_with_required_keys};
use crate::seams::Membership;
use coord_domain::work::{Shortfall, Verdict};
use coord_domain::{CommitSha, FilePath, FilePaths, LockEntry, LockReason};
use coord_store::{Store, StoreError, script};

/// Maximum number of importers in one response, and their maximum bytes; their number is returned in any case.
pub const MAX_IMPORTERS: usize = 1000;
pub const MAX_IMPORTER_BYTES: usize = 32_768;

/// The parameters of a release.
#[derive(Clone, Debug)]
pub struct Release<'a> {
    /// The commit that the caller has pushed.
    pub new_head: Option<&'a CommitSha>,
    /// The commit of its working copy.
    pub agent_head: &'a CommitSha,
    /// Whether the work is abandoned: then no push is required.
    pub is_abandoned: bool,
    pub message: &'a LockReason,
    /// The files; none means all that the caller holds on the branch.
    pub paths: &'a [FilePath],
    /// Whether a source can be asked about work that the store does not know.
    pub can_ask: bool,
    /// The verdicts of the source.
    pub judged_files: &'a [JudgedFile],
}

/// A released file whose interface others rely on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenInterface {
    /// The file, and the head at its claim.
    pub written: WrittenFile,
    /// Whether the claim promised to keep the interface.
    pub is_promised: bool,
    /// Whether the change is now pending on the work branch.
    pub is_pending: bool,
}

impl From<(String, CommitSha, bool, bool)> for WrittenInterface {
    fn from((path, claim_head, is_promised, is_pending): (String, CommitSha, bool, bool)) -> Self {
        WrittenInterface {
            written: WrittenFile { path, claim_head },
            is_promised,
            is_pending,
        }
    }
}

/// The verdict of a source on a [`WrittenFile`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedFile {
    pub path: String,
    /// The claim head that the verdict is for.
    pub claim_head: CommitSha,
    pub verdict: Verdict,
    /// Of waiting work: the blob of the file; empty if the file is gone.
    pub blob: String,
}

impl JudgedFile {
    /// The verdict as `release.lua` reads it.
    fn to_text(&self) -> String {
        let verdict = self.verdict.as_str();
        match self.verdict {
            Verdict::Waiting => format!("{} {verdict} {}", self.claim_head, self.blob),
            _ => format!("{} {verdict}", self.claim_head),
        }
    }
}

/// The result of a release.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "ReleaseAnswer")]
pub struct Released {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// Head of the branch; `None` after a release without one.
    pub head: Option<ReportedHead>,
    /// The commit whose import graph is stored, if any.
    pub graph_version: Option<String>,
    /// Files that were held, and are now released.
    pub released: Vec<String>,
    /// Files that the caller did not hold: expired, or never claimed.
    pub missing: Vec<String>,
    /// Others' locks on files that the caller did not hold.
    pub others: Vec<LockEntry>,
    /// Files that import released ones; at most 1,000.
    pub importers: Vec<String>,
    /// Number of all importers.
    pub importer_count: u64,
    /// Whether there are more than `importer_count`.
    pub has_more_importers: bool,
    /// Files in `released` with the same content as at the claim.
    pub unchanged: Vec<String>,
    /// Files that the caller had already released, and how many seconds ago.
    pub again: Vec<(String, u64)>,
    /// Others' locks for writing on files whose lock was lost, if the caller abandons its work.
    pub lost: Vec<LockEntry>,
    /// Digest of the policy of the branch; empty if there is none.
    pub policy: String,
    /// Written files whose interfaces have to be compared.
    pub interfaces: Vec<WrittenInterface>,
    /// Pending notices for the caller: released files, with the text of `modules/notices.lua`.
    pub notices: Vec<(String, String)>,
    /// Files whose change is now pending on the work branch.
    pub pending: Vec<String>,
    /// Files whose change could not be recorded as pending, for lack of room.
    pub pending_left_out: Vec<String>,
    /// Written files whose push is proved by the store alone: it is not known whether they have changed since the claim.
    pub by_store: Vec<WrittenFile>,
    /// Pending messages and questions for the caller in its teams.
    pub waiting: Vec<Membership>,
}

/// The outcome of a release. Only [`ReleaseOutcome::Released`] changes anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    Released(Box<Released>),
    /// Files were written, but the branch does not have the work.
    NotPushed {
        /// Head of the branch.
        head: Option<ReportedHead>,
        /// The files to push, and why.
        unpushed: Vec<(String, Shortfall)>,
        /// Pending messages and questions for the caller in its teams.
        waiting: Vec<Membership>,
    },
    /// Files were written, but the caller sent no new head.
    NoNewHead {
        written: Vec<String>,
    },
    /// Another holder has a lock for writing on a file whose lock the caller had lost.
    Lost {
        /// Head of the branch.
        head: Option<ReportedHead>,
        others: Vec<LockEntry>,
        /// Pending messages and questions for the caller in its teams.
        waiting: Vec<Membership>,
    },
}

impl ReleaseOutcome {
    /// The head that the outcome is based on, if any.
    pub fn head(&self) -> Option<&ReportedHead> {
        match self {
            ReleaseOutcome::Released(released) => released.head.as_ref(),
            ReleaseOutcome::NotPushed { head, .. } | ReleaseOutcome::Lost { head, .. } => head.as_ref(),
            ReleaseOutcome::NoNewHead { .. } => None,
        }
    }

    /// Pending messages and questions for the caller in its teams.
    pub fn waiting(&self) -> &[Membership] {
        match self {
            ReleaseOutcome::Released(released) => &released.waiting,
            ReleaseOutcome::NotPushed { waiting, .. } | ReleaseOutcome::Lost { waiting, .. } => waiting,
            ReleaseOutcome::NoNewHead { .. } => &[],
        }
    }
}

impl Release<'_> {
    /// A name that a repeated request has too. Its number is the version of the stored form of the outcome.
    fn name(&self) -> String {
        let mut paths: Vec<&str> = self.paths.iter().map(FilePath::as_str).collect();
        paths.sort_unstable();
        let new_head = self.new_head.map_or("", CommitSha::as_str);
        script::sha1_hex(&format!("4 {new_head} {} {}", self.is_abandoned, paths.join("\n")))
    }

    fn to_args(&self) -> ReleaseArgs<'_> {
        ReleaseArgs {
            new_head: self.new_head.map(CommitSha::as_str),
            agent_head: self.agent_head.as_str(),
            is_abandoned: self.is_abandoned,
            message: self.message.as_str(),
            most_importers: MAX_IMPORTERS,
            most_importer_bytes: MAX_IMPORTER_BYTES,
            name: self.name(),
            can_ask: self.can_ask,
            paths: self.paths,
            verdicts: verdicts(self.judged_files),
        }
    }
}

/// Arguments of `release.lua` beside the terms of the admission.
#[derive(Serialize)]
struct ReleaseArgs<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    new_head: Option<&'a str>,
    agent_head: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    is_abandoned: bool,
    message: &'a str,
    most_importers: usize,
    most_importer_bytes: usize,
    name: String,
    #[serde(skip_serializing_if = "is_false")]
    can_ask: bool,
    paths: &'a [FilePath],
    #[serde(skip_serializing_if = "HashMap::is_empty")]
    verdicts: HashMap<&'a str, String>,
}

/// The texts of verdicts, by file.
pub fn verdicts(judged_files: &[JudgedFile]) -> HashMap<&str, String> {
    judged_files
        .iter()
        .map(|file| (file.path.as_str(), file.to_text()))
        .collect()
}

/// Releases all that the caller holds of some files, or nothing. One round trip.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the release may have been made.
pub async fn release(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    request: &Release<'_>,
) -> Result<Admitted<ReleaseOutcome>, StoreError> {
    // A release of everything costs as much as one with the maximum number of files.
    let cost = match request.paths.len() {
        0 => FilePaths::MAX,
        count => count,
    };
    let release_once = |terms: AdmissionTerms<'_>, uses_all: bool| {
        let keys = change_keys(&terms, uses_all);
        let args = terms.args(RequestKind::Release, cost, &keys, &request.to_args());
        call(store, &RELEASE, keys, args)
    };
    // On a work branch, the release may make changes pending.
    let reply = run_with_required_keys(terms, terms.work_branch.is_some(), release_once).await?;
    decode_admission(&reply, |reply| {
        let outcome = ReleaseOutcome::of(&reply.outcome, reply.object()?);
        outcome.ok_or_else(|| reply.malformed("an unknown answer"))
    })
}

/// The answer of a release, as `modules/release_files.lua` writes it: the fields of all outcomes.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ReleaseAnswer {
    time: i64,
    head: Option<CommitSha>,
    head_age: Option<u64>,
    is_unconfirmed: bool,
    graph_version: Option<String>,
    released: Vec<String>,
    missing: Vec<String>,
    others: Vec<JsonText<LockEntry>>,
    importers: Vec<String>,
    importer_count: u64,
    has_more_importers: bool,
    unchanged: Vec<String>,
    again: Vec<(String, u64)>,
    lost: Vec<JsonText<LockEntry>>,
    policy: String,
    interfaces: Vec<(String, CommitSha, bool, bool)>,
    notices: Vec<(String, String)>,
    pending: Vec<String>,
    pending_left_out: Vec<String>,
    by_store: Vec<WrittenFile>,
    unpushed: Vec<Unpushed>,
    written: Vec<String>,
    waiting: Vec<Membership>,
}

/// A written file whose work the branch does not have.
#[derive(Deserialize)]
struct Unpushed {
    path: String,
    why: String,
}

impl ReleaseAnswer {
    fn head(&self) -> Option<ReportedHead> {
        let commit = self.head.clone()?;
        Some(ReportedHead {
            commit,
            age: self.head_age,
            is_unconfirmed: self.is_unconfirmed,
        })
    }
}

impl From<ReleaseAnswer> for Released {
    fn from(answer: ReleaseAnswer) -> Self {
        Released {
            now: answer.time,
            head: answer.head(),
            waiting: answer.waiting,
            graph_version: answer.graph_version,
            released: answer.released,
            missing: answer.missing,
            others: unwrap_json_texts(answer.others),
            importers: answer.importers,
            importer_count: answer.importer_count,
            has_more_importers: answer.has_more_importers,
            unchanged: answer.unchanged,
            again: answer.again,
            lost: unwrap_json_texts(answer.lost),
            policy: answer.policy,
            interfaces: answer.interfaces.into_iter().map(WrittenInterface::from).collect(),
            notices: answer.notices,
            pending: answer.pending,
            pending_left_out: answer.pending_left_out,
            by_store: answer.by_store,
        }
    }
}

impl ReleaseOutcome {
    pub fn of(name: &str, answer: ReleaseAnswer) -> Option<ReleaseOutcome> {
        let shortfall = |Unpushed { path, why }: Unpushed| match Verdict::parse(&why)? {
            Verdict::Missing(shortfall) => Some((path, shortfall)),
            _ => None,
        };
        Some(match name {
            "RELEASED" => ReleaseOutcome::Released(Box::new(answer.into())),
            "NOT_PUSHED" => ReleaseOutcome::NotPushed {
                head: answer.head(),
                waiting: answer.waiting,
                unpushed: answer.unpushed.into_iter().map(shortfall).collect::<Option<_>>()?,
            },
            "NO_NEW_HEAD" => ReleaseOutcome::NoNewHead {
                written: answer.written,
            },
            "LOST" => ReleaseOutcome::Lost {
                head: answer.head(),
                waiting: answer.waiting,
                others: unwrap_json_texts(answer.others),
            },
            _ => return None,
        })
    }
}

use super::scripts::RELEASE;
use crate::domain::work::{Shortfall, Verdict};
use crate::domain::{CommitSha, FilePath, FilePaths, LockEntry, LockReason};
use crate::state::admission::{AdmissionTerms, Admitted, Kind, SeenHead, admitted};
use crate::state::reply::{Reply, arguments, call};
use crate::state::request_keys::lock_keys;
use crate::state::teams::Membership;
use crate::store::{Store, StoreError, script};

/// Maximum importers in one response, and their maximum bytes; their number is returned in any case.
pub(in crate::state) const MOST_IMPORTERS: usize = 1000;
pub(in crate::state) const MOST_IMPORTER_BYTES: usize = 32_768;

/// The parameters of a release.
#[derive(Clone, Debug)]
pub struct Release<'a> {
    /// The commit that the caller has pushed.
    pub new_head: Option<&'a CommitSha>,
    /// The commit of its working copy.
    pub agent_head: &'a CommitSha,
    /// Whether the work is abandoned: then no push is required.
    pub is_abandoned: bool,
    /// The caller's reason.
    pub message: &'a LockReason,
    /// The files; none means all that the caller holds on the branch.
    pub paths: &'a [FilePath],
    /// Whether a source can be asked about work that the store does not know.
    pub can_ask: bool,
    /// The verdicts of the source.
    pub judged: &'a [Judged],
}

/// A written file whose work only the source can find on the branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub path: String,
    /// Head of the branch when it was claimed.
    pub claim_head: CommitSha,
}

impl Written {
    pub(in crate::state) fn read(tuple: &mut Reply) -> Result<Self, StoreError> {
        Ok(Written {
            path: tuple.text()?,
            claim_head: tuple.commit()?,
        })
    }
}

/// A released file whose interface somebody relies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenInterface {
    /// The file, and the head at its claim.
    pub written: Written,
    /// The claim said that it is kept.
    pub is_to_be_kept: bool,
    /// The change is pending on the work branch now.
    pub is_pending: bool,
}

impl WrittenInterface {
    fn read(tuple: &mut Reply) -> Result<Self, StoreError> {
        Ok(WrittenInterface {
            written: Written::read(tuple)?,
            is_to_be_kept: tuple.flag()?,
            is_pending: tuple.flag()?,
        })
    }
}

/// The verdict of a source on a [`Written`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The file.
    pub path: String,
    /// The claim head of the verdict.
    pub claim_head: CommitSha,
    /// The verdict.
    pub verdict: Verdict,
    /// Of waiting work: the blob of the file; empty where it is gone.
    pub blob: String,
}

impl Judged {
    /// The file, as the source was asked about it.
    pub fn written(&self) -> Written {
        Written {
            path: self.path.clone(),
            claim_head: self.claim_head.clone(),
        }
    }

    /// The text in `release.lua`.
    pub(in crate::state) fn text(&self) -> String {
        let verdict = self.verdict.as_str();
        match self.verdict {
            Verdict::Waiting => format!("{} {verdict} {}", self.claim_head, self.blob),
            _ => format!("{} {verdict}", self.claim_head),
        }
    }
}

/// The result of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// Head of the branch; `None` after a release without one.
    pub head: Option<SeenHead>,
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
    /// Whether there are even more, beyond the count.
    pub has_more_importers: bool,
    /// Files in `released` with the same content as at the claim.
    pub unchanged: Vec<String>,
    /// Files that the caller had released before, and how many seconds ago.
    pub again: Vec<(String, u64)>,
    /// Others' locks for writing on files whose lock was lost, if the caller abandons its work.
    pub lost: Vec<LockEntry>,
    /// Digest of the policy of the branch; empty where there is none.
    pub policy: String,
    /// Written files whose interfaces have to be compared.
    pub interfaces: Vec<WrittenInterface>,
    /// What the caller has yet to be told: released files, with the text of `includes/notices.lua`.
    pub notices: Vec<(String, String)>,
    /// Files whose change is pending on the work branch now.
    pub pending: Vec<String>,
    /// The same where no room was left to keep that.
    pub pending_left_out: Vec<String>,
    /// Written files whose push the store alone has proved: whether they have changed since the claim is not known.
    pub by_store: Vec<Written>,
    /// What waits for the caller in its teams.
    pub waiting: Vec<Membership>,
}

/// The outcome of a release. Only [`ReleaseOutcome::Released`] changes anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// Done.
    Released(Box<Released>),
    /// Files were written, but the branch does not have the work.
    NotPushed {
        /// Head of the branch.
        head: Option<SeenHead>,
        /// The files to push, and why.
        unpushed: Vec<(String, Shortfall)>,
        /// What waits for the caller in its teams.
        waiting: Vec<Membership>,
    },
    /// Files were written, but the caller sent no new head.
    NoNewHead {
        /// The written files.
        written: Vec<String>,
    },
    /// Another holder writes a file whose lock the caller had lost.
    Lost {
        /// Head of the branch.
        head: Option<SeenHead>,
        /// The others' locks.
        others: Vec<LockEntry>,
        /// What waits for the caller in its teams.
        waiting: Vec<Membership>,
    },
}

impl ReleaseOutcome {
    /// The head that the outcome is based on, if any.
    pub fn head(&self) -> Option<&SeenHead> {
        match self {
            ReleaseOutcome::Released(released) => released.head.as_ref(),
            ReleaseOutcome::NotPushed { head, .. } | ReleaseOutcome::Lost { head, .. } => head.as_ref(),
            ReleaseOutcome::NoNewHead { .. } => None,
        }
    }

    /// What waits for the caller in its teams.
    pub fn waiting(&self) -> &[Membership] {
        match self {
            ReleaseOutcome::Released(released) => &released.waiting,
            ReleaseOutcome::NotPushed { waiting, .. } | ReleaseOutcome::Lost { waiting, .. } => waiting,
            ReleaseOutcome::NoNewHead { .. } => &[],
        }
    }
}

impl Release<'_> {
    /// A name that a repeated request has too. The number is that of the form of the remembered outcome.
    fn name(&self) -> String {
        let mut paths: Vec<&str> = self.paths.iter().map(FilePath::as_str).collect();
        paths.sort_unstable();
        let new_head = self.new_head.map_or("", CommitSha::as_str);
        script::sha1_hex(&format!("3 {new_head} {} {}", self.is_abandoned, paths.join("\n")))
    }

    fn arguments(&self) -> Vec<Vec<u8>> {
        let flag = |is_set| if is_set { "1" } else { "0" };
        let mut args = arguments([
            self.new_head.map_or("", CommitSha::as_str),
            self.agent_head.as_str(),
            flag(self.is_abandoned),
            self.message.as_str(),
            &MOST_IMPORTERS.to_string(),
            &MOST_IMPORTER_BYTES.to_string(),
            &self.name(),
            flag(self.can_ask),
            &self.paths.len().to_string(),
        ]);
        args.extend(self.paths.iter().map(|path| path.as_str().as_bytes().to_vec()));
        if !self.judged.is_empty() {
            let verdicts: std::collections::HashMap<&str, &Judged> = self
                .judged
                .iter()
                .map(|judged| (judged.path.as_str(), judged))
                .collect();
            let verdict = |path: &FilePath| match verdicts.get(path.as_str()) {
                Some(judged) => judged.text().into_bytes(),
                None => Vec::new(),
            };
            args.extend(self.paths.iter().map(verdict));
        }
        args
    }
}

/// Releases all that the caller holds of some files, or nothing. One round trip.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the release may have been made.
pub async fn release(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    request: &Release<'_>,
) -> Result<Admitted<ReleaseOutcome>, StoreError> {
    // A release of everything costs as much as one with the maximum number of files.
    let cost = match request.paths.len() {
        0 => FilePaths::MAX,
        named => named,
    };
    let mut args = entry.arguments(Kind::Release, cost);
    args.extend(request.arguments());
    let reply = call(store, &RELEASE, lock_keys(entry), args).await?;
    admitted(reply, |mut reply| ReleaseOutcome::read(&mut reply, Membership::read))
}

impl ReleaseOutcome {
    /// Reads what `includes/release_files.lua` gives; `waiting` reads what is behind it.
    pub(in crate::state) fn read(
        reply: &mut Reply,
        waiting: impl FnOnce(&mut Reply) -> Result<Vec<Membership>, StoreError>,
    ) -> Result<ReleaseOutcome, StoreError> {
        let head = SeenHead::read_if_any(reply)?;
        match reply.outcome.as_str() {
            "RELEASED" => Ok(ReleaseOutcome::Released(Box::new(Released {
                now: reply.now,
                head,
                graph_version: reply.optional_text()?,
                released: reply.texts()?,
                missing: reply.texts()?,
                others: reply.objects()?,
                importers: reply.texts()?,
                importer_count: reply.number()?.unsigned_abs(),
                has_more_importers: reply.flag()?,
                unchanged: reply.texts()?,
                again: reply.tuples(|tuple| Ok((tuple.text()?, tuple.number()?.unsigned_abs())))?,
                lost: reply.objects()?,
                policy: reply.text()?,
                interfaces: reply.tuples(WrittenInterface::read)?,
                notices: reply.tuples(|tuple| Ok((tuple.text()?, tuple.text()?)))?,
                pending: reply.texts()?,
                pending_left_out: reply.texts()?,
                by_store: reply.tuples(Written::read)?,
                waiting: waiting(reply)?,
            }))),
            "NOT_PUSHED" => Ok(ReleaseOutcome::NotPushed {
                head,
                unpushed: reply.tuples(|tuple| {
                    let path = tuple.text()?;
                    match Verdict::parse(&tuple.text()?) {
                        Some(Verdict::Missing(shortfall)) => Ok((path, shortfall)),
                        _ => Err(tuple.malformed("no reason why a push is missing")),
                    }
                })?,
                waiting: waiting(reply)?,
            }),
            "NO_NEW_HEAD" => Ok(ReleaseOutcome::NoNewHead {
                written: reply.texts()?,
            }),
            "LOST" => Ok(ReleaseOutcome::Lost {
                head,
                others: reply.objects()?,
                waiting: waiting(reply)?,
            }),
            _ => Err(reply.malformed("an unknown outcome")),
        }
    }
}

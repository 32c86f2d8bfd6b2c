use super::keys;
use super::request_keys::branch_keys;
use super::scripts::RELEASE;
use crate::domain::work::{Shortfall, Verdict};
use crate::domain::{CommitSha, FilePath, FilePaths, LockEntry, LockReason};
use crate::state::admission::{AdmissionTerms, Admitted, Kind, SeenHead, admitted};
use crate::state::reply::{Reply, arguments, call};
use crate::store::{Store, StoreError, script};

/// Most importers that one release returns, and most bytes of them; how many there are is told beside them.
const MOST_IMPORTERS: usize = 1000;
const MOST_IMPORTER_BYTES: usize = 32_768;

/// What is given back, and what shows that it was pushed.
#[derive(Clone, Debug)]
pub struct Release<'a> {
    /// The caller's commit after its work.
    pub new_head: Option<&'a CommitSha>,
    /// The commit that its working copy is at.
    pub agent_head: &'a CommitSha,
    /// The work is thrown away: no push is asked for.
    pub is_abandoned: bool,
    /// What the caller says.
    pub message: &'a LockReason,
    /// The files; none is everything that the caller holds on the branch.
    pub paths: &'a [FilePath],
    /// Whether a source can be asked what the store cannot tell of the work.
    pub can_ask: bool,
    /// What it said.
    pub judged: &'a [Judged],
}

/// A file that the caller has written, of which only the source can tell whether the branch has the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub path: String,
    /// Head of the branch when it was claimed.
    pub claim_head: CommitSha,
}

/// What a source said of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The file.
    pub path: String,
    /// The head that it was judged from.
    pub claim_head: CommitSha,
    /// What it comes to.
    pub verdict: Verdict,
}

/// A release that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// Head of the branch; none where it was released without one.
    pub head: Option<SeenHead>,
    /// The commit whose import graph is stored, if any.
    pub graph_version: Option<String>,
    /// Files that were held, and now are not.
    pub released: Vec<String>,
    /// Files that the caller did not hold: expired, or never claimed.
    pub missing: Vec<String>,
    /// Others' locks on files that the caller did not hold.
    pub others: Vec<LockEntry>,
    /// Files that import what was released; at most 1,000.
    pub importers: Vec<String>,
    /// How many there are.
    pub importer_count: u64,
    /// Whether there are even more, which were not counted.
    pub has_more_importers: bool,
    /// Files in `released` that are as they were when they were claimed.
    pub unchanged: Vec<String>,
    /// Files that the caller had given back before, and how many seconds before.
    pub again: Vec<(String, u64)>,
    /// Others' locks for writing on files whose lock was lost, where the caller threw its work away.
    pub lost: Vec<LockEntry>,
}

/// What became of a release. Only [`ReleaseOutcome::Released`] changed anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// Done.
    Released(Released),
    /// Files were written, and the branch does not have the work.
    NotPushed {
        /// Head of the branch.
        head: Option<SeenHead>,
        /// The files that are to be pushed, and why.
        unpushed: Vec<(String, Shortfall)>,
    },
    /// Files were written, and the caller did not say its new head.
    NoNewHead {
        /// The written files.
        written: Vec<String>,
    },
    /// Somebody else writes a file whose lock the caller had lost.
    Lost {
        /// Head of the branch.
        head: Option<SeenHead>,
        /// The others' locks.
        others: Vec<LockEntry>,
    },
    /// Whether the branch has the work, only the source can tell.
    AskWork {
        /// Head of the branch.
        head: SeenHead,
        /// What came with it, if that is still to be trusted.
        etag: Option<String>,
        /// The files, and from where their work counts.
        written: Vec<Written>,
    },
}

impl ReleaseOutcome {
    /// The head that it was decided by, where it was.
    pub fn head(&self) -> Option<&SeenHead> {
        match self {
            ReleaseOutcome::Released(Released { head, .. })
            | ReleaseOutcome::NotPushed { head, .. }
            | ReleaseOutcome::Lost { head, .. } => head.as_ref(),
            ReleaseOutcome::NoNewHead { .. } | ReleaseOutcome::AskWork { .. } => None,
        }
    }
}

impl Release<'_> {
    /// The same for a request that is asked again.
    fn name(&self) -> String {
        let mut paths: Vec<&str> = self.paths.iter().map(FilePath::as_str).collect();
        paths.sort_unstable();
        let new_head = self.new_head.map_or("", CommitSha::as_str);
        script::sha1_hex(&format!("{new_head} {} {}", self.is_abandoned, paths.join("\n")))
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
                Some(judged) => format!("{} {}", judged.claim_head, judged.verdict.as_str()).into_bytes(),
                None => Vec::new(),
            };
            args.extend(self.paths.iter().map(verdict));
        }
        args
    }
}

/// Gives back all that the caller holds of some files, or nothing. One round trip.
///
/// # Errors
/// When the store gives no answer, or none that is understood. The release may then have been made all the same.
pub async fn release(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    request: &Release<'_>,
) -> Result<Admitted<ReleaseOutcome>, StoreError> {
    // Everything costs as much as the most that can be named.
    let cost = match request.paths.len() {
        0 => FilePaths::MAX,
        named => named,
    };
    let mut args = entry.arguments(Kind::Release, cost);
    args.extend(request.arguments());
    let mut keys = branch_keys(entry);
    keys.push(keys::releases(entry.repo));
    admitted(call(store, &RELEASE, keys, args).await?, read_outcome)
}

fn read_outcome(mut reply: Reply) -> Result<ReleaseOutcome, StoreError> {
    let head = SeenHead::read_if_any(&mut reply)?;
    match reply.outcome.as_str() {
        "RELEASED" => Ok(ReleaseOutcome::Released(Released {
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
        })),
        "NOT_PUSHED" => Ok(ReleaseOutcome::NotPushed {
            head,
            unpushed: reply.tuples(|tuple| {
                let path = tuple.text()?;
                match Verdict::parse(&tuple.text()?) {
                    Some(Verdict::Missing(shortfall)) => Ok((path, shortfall)),
                    _ => Err(tuple.malformed("no reason why a push is missing")),
                }
            })?,
        }),
        "NO_NEW_HEAD" => Ok(ReleaseOutcome::NoNewHead {
            written: reply.texts()?,
        }),
        "LOST" => Ok(ReleaseOutcome::Lost {
            head,
            others: reply.objects()?,
        }),
        "ASK_WORK" => Ok(ReleaseOutcome::AskWork {
            head: head.ok_or_else(|| reply.malformed("no head"))?,
            etag: reply.optional_text()?,
            written: reply.tuples(|tuple| {
                Ok(Written {
                    path: tuple.text()?,
                    claim_head: tuple.commit()?,
                })
            })?,
        }),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

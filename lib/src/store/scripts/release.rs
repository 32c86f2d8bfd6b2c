use super::entry::{Entered, Entry, Kind, SeenHead, entered};
use super::reply::{Reply, arguments, call};
use super::{RELEASE, branch_keys};
use crate::domain::{CommitSha, FilePath, LockEntry, Message};
use crate::source::Reachable;
use crate::store::{Store, StoreError};

/// Most importers that one release returns; how many there are is told beside them.
const MOST_IMPORTERS: usize = 1000;

/// What is given back, and what shows that it was pushed.
#[derive(Clone, Debug)]
pub struct Release<'a> {
    /// The caller's commit after its work.
    pub new_head: Option<&'a CommitSha>,
    /// Whether `new_head` is reachable from the head of the branch; `Unknown` leaves it to what the store knows.
    pub reachable: Reachable,
    /// The work is thrown away: no push is asked for.
    pub is_abandoned: bool,
    /// What the caller says.
    pub message: &'a Message,
    /// The files.
    pub paths: &'a [FilePath],
}

/// A release that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// Head of the branch.
    pub head: SeenHead,
    /// The commit whose import graph is stored, if any.
    pub graph_version: Option<String>,
    /// Files that were held, and now are not.
    pub released: Vec<String>,
    /// Files that the caller did not hold: expired, or never claimed.
    pub missing: Vec<String>,
    /// Others' locks on the files in `missing`; all of them for reading.
    pub others: Vec<LockEntry>,
    /// Files that import what was released; at most 1,000.
    pub importers: Vec<String>,
    /// How many there are.
    pub importer_count: u64,
    /// Whether there are even more, which were not counted.
    pub has_more_importers: bool,
}

/// What became of a release. Only [`ReleaseOutcome::Released`] changed anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// Done.
    Released(Released),
    /// Files were written, and the branch does not have the work.
    NotPushed {
        /// Head of the branch.
        head: SeenHead,
        /// The written files.
        written: Vec<String>,
    },
    /// Files were written, and the caller did not say its new head.
    NoNewHead {
        /// The written files.
        written: Vec<String>,
    },
    /// Somebody else writes a file whose lock the caller had lost.
    Lost {
        /// Head of the branch.
        head: SeenHead,
        /// The others' locks.
        others: Vec<LockEntry>,
    },
}

impl ReleaseOutcome {
    /// The head that it was decided by, where it was.
    pub fn head(&self) -> Option<&SeenHead> {
        match self {
            ReleaseOutcome::Released(released) => Some(&released.head),
            ReleaseOutcome::NotPushed { head, .. } | ReleaseOutcome::Lost { head, .. } => Some(head),
            ReleaseOutcome::NoNewHead { .. } => None,
        }
    }
}

/// Gives back all that the caller holds of some files, or nothing. One round trip.
///
/// # Errors
/// When the store gives no answer, or none that is understood. The release may then have been made all the same.
pub async fn release(
    store: &dyn Store,
    entry: &Entry<'_>,
    request: &Release<'_>,
) -> Result<Entered<ReleaseOutcome>, StoreError> {
    let mut args = entry.arguments(Kind::Release, request.paths.len());
    args.extend(arguments([
        request.new_head.map_or("", CommitSha::as_str),
        match request.reachable {
            Reachable::Yes => "1",
            Reachable::No => "0",
            Reachable::Unknown => "",
        },
        if request.is_abandoned { "1" } else { "0" },
        request.message.as_str(),
        &MOST_IMPORTERS.to_string(),
    ]));
    args.extend(request.paths.iter().map(|path| path.as_str().as_bytes().to_vec()));
    entered(call(store, &RELEASE, branch_keys(entry), args).await?, read_outcome)
}

fn read_outcome(mut reply: Reply) -> Result<ReleaseOutcome, StoreError> {
    let head = SeenHead::read(&mut reply)?;
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
        })),
        "NOT_PUSHED" => Ok(ReleaseOutcome::NotPushed {
            head,
            written: reply.texts()?,
        }),
        "NO_NEW_HEAD" => Ok(ReleaseOutcome::NoNewHead {
            written: reply.texts()?,
        }),
        "LOST" => Ok(ReleaseOutcome::Lost {
            head,
            others: reply.objects()?,
        }),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

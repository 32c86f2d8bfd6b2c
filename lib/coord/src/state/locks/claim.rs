use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use quick_cache::sync::Cache;

use super::keys;
use super::request_keys::branch_keys;
use super::scripts::{CHECK_STATUS, CLAIM};
use crate::domain::{CommitSha, FilePath, LockEntry, LockMode, LockReason, NeighborPolicy, RepoId};
use crate::state::admission::{AdmissionTerms, Admitted, Kind, Rates, SeenHead, admitted};
use crate::state::expiry;
use crate::state::expiry::scripts::{MARK_DUE, UNMARK_DUE};
use crate::state::reply::{Reply, arguments, call};
use crate::store::{Request, Store, StoreError};
use coord_graph::spelling;

/// How a lock concerns a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is on a requested file.
    Direct,
    /// It is on a neighbor of a requested file.
    Neighbor,
    /// It is on a requested file, on another branch.
    CrossBranch,
}

/// Which of two neighbors imports the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The requested file imports the locked one.
    Imports,
    /// The locked file imports the requested one.
    ImportedBy,
}

/// A lock of another holder that concerns the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How.
    pub relation: Relation,
    /// Whether it stands in the way.
    pub blocks: bool,
    /// The requested file that it concerns.
    pub via: String,
    /// For a neighbor: which imports which.
    pub direction: Option<Direction>,
    /// The lock.
    pub entry: LockEntry,
}

/// What a script saw, all at one instant of the store's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// That instant, Unix seconds.
    pub now: i64,
    /// Head of the branch.
    pub head: SeenHead,
    /// Whether the caller's working copy lacks it, as far as is known.
    pub is_behind: bool,
    /// It does for certain: one of the caller's commits is an older one of the branch.
    pub is_behind_for_certain: bool,
    /// The commit whose import graph is stored, if any.
    pub graph_version: Option<String>,
    /// How many locked neighbors are not in `findings`.
    pub omitted: u64,
    /// Others' locks that concern the request; what blocks comes before what does not, among neighbors.
    pub findings: Vec<Finding>,
    /// The caller's own locks on the requested files.
    pub own: Vec<LockEntry>,
    /// The requested files that are tracked under other spellings alone.
    pub spelled: Vec<Spelled>,
    /// What the caller held of them before a claim.
    pub held: Vec<Held>,
}

/// A requested file that is not tracked, and differs from tracked ones in case alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelled {
    /// The file as requested.
    pub file_path: String,
    /// As it is tracked; the first four spellings where there are more.
    pub tracked: Vec<String>,
}

/// A lock that the caller had before its claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The file.
    pub file_path: String,
    /// How.
    pub status: LockMode,
    /// Since when, Unix seconds.
    pub since: i64,
    /// What the caller had said.
    pub message: String,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// All files are held; `own` has the entries.
    Claimed(Survey),
    /// Others stand in the way; nothing is held that was not before.
    Conflict(Survey),
    /// Writing files that are not held yet was refused because the working copy is behind; nothing is held that was not before.
    Stale(Survey),
}

impl ClaimOutcome {
    /// What the claim has met.
    pub fn survey(&self) -> &Survey {
        match self {
            ClaimOutcome::Claimed(survey) | ClaimOutcome::Conflict(survey) | ClaimOutcome::Stale(survey) => survey,
        }
    }
}

fn read_survey(reply: &mut Reply) -> Result<Survey, StoreError> {
    let (now, head) = (reply.now, SeenHead::read(reply)?);
    let (is_behind, is_behind_for_certain) = match reply.text()?.as_str() {
        "0" => (false, false),
        "1" => (true, true),
        "?" => (true, false),
        _ => return Err(reply.malformed("no answer to whether the caller is behind")),
    };
    Ok(Survey {
        now,
        head,
        is_behind,
        is_behind_for_certain,
        graph_version: reply.optional_text()?,
        omitted: reply.number()?.unsigned_abs(),
        findings: reply.tuples(|tuple| {
            Ok(Finding {
                relation: match tuple.text()?.as_str() {
                    "DIRECT" => Relation::Direct,
                    "NEIGHBOR" => Relation::Neighbor,
                    "CROSS_BRANCH" => Relation::CrossBranch,
                    _ => return Err(tuple.malformed("an unknown relation")),
                },
                blocks: tuple.flag()?,
                via: tuple.text()?,
                direction: match tuple.text()?.as_str() {
                    ">" => Some(Direction::Imports),
                    "<" => Some(Direction::ImportedBy),
                    _ => None,
                },
                entry: tuple.object()?,
            })
        })?,
        own: reply.objects()?,
        spelled: reply.tuples(|tuple| {
            let (file_path, ends) = (tuple.text()?, tuple.text()?);
            Ok(Spelled {
                tracked: ends
                    .split_terminator('\n')
                    .map(|end| spelling::spelled(&file_path, end))
                    .collect(),
                file_path,
            })
        })?,
        held: Vec::new(),
    })
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
    Ok(Survey { held, ..survey })
}

/// What stands in the way of `intent`. One round trip.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn check_status(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    paths: &[FilePath],
    intent: LockMode,
    policy: NeighborPolicy,
) -> Result<Admitted<Survey>, StoreError> {
    let mut args = entry.arguments(Kind::Read, paths.len());
    args.extend(arguments([intent.as_str(), policy.as_str(), &lookups(paths)]));
    args.extend(paths.iter().map(|path| path.as_str().as_bytes().to_vec()));
    let reply = call(store, &CHECK_STATUS, branch_keys(entry), args).await?;
    admitted(reply, |mut reply| match reply.outcome.as_str() {
        "CHECKED" => read_survey(&mut reply),
        _ => Err(reply.malformed("an unknown outcome")),
    })
}

/// How other spellings of `paths` are looked up.
fn lookups(paths: &[FilePath]) -> String {
    paths.iter().map(|path| spelling::lookup(path.as_str())).collect()
}

/// What is claimed.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// For reading or writing.
    pub claim: LockMode,
    /// What a written neighbor means.
    pub policy: NeighborPolicy,
    /// The caller's commit.
    pub agent_head: &'a CommitSha,
    /// What the caller is about to do.
    pub message: &'a LockReason,
    /// How long, unless it is renewed.
    pub ttl_seconds: u32,
    /// The files.
    pub paths: &'a [FilePath],
}

/// Claims all files, or none. One round trip, but for the rare claim that finds the repository unmarked, or is refused by a
/// process that has not seen it before; see `mark_due.lua`.
///
/// # Errors
/// When the store gives no answer, or none that is understood. The claim may then have been made all the same.
pub async fn claim(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    wanted: &Wanted<'_>,
) -> Result<Admitted<ClaimOutcome>, StoreError> {
    if !is_seen(store, entry) {
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

/// Has the sweep know of the repository, and claims; takes the first back where the second is refused.
async fn mark_and_claim(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    wanted: &Wanted<'_>,
) -> Result<Admitted<ClaimOutcome>, StoreError> {
    let repo = entry.repo.as_str();
    let keys = || vec![expiry::keys::DUE.to_owned(), expiry::keys::DUE_CLAIMS.to_owned()];
    // A fresh `RandomState` is the standard library's own source of random bits.
    let name = format!("{:016x}", RandomState::new().hash_one(repo));
    let seconds = wanted.ttl_seconds.to_string();
    let mark = Request::Script {
        script: &MARK_DUE,
        keys: keys(),
        args: arguments([repo, &seconds, &name, UNMARKED_WITHIN]),
    };
    let claim = Request::Script {
        script: &CLAIM,
        keys: claim_keys(entry),
        args: claim_arguments(entry, wanted, Kind::Marked),
    };
    let mut replies = store.run(vec![mark, claim]).await?.into_iter();
    let is_new = Reply::open(&MARK_DUE, replies.next())?.flag()?;
    let reply = Reply::open(&CLAIM, replies.next())?;
    if reply.outcome == "CLAIMED" {
        note_seen(store, entry);
    } else if is_new {
        call(store, &UNMARK_DUE, keys(), arguments([repo, &name])).await?;
    }
    admitted(reply, read_outcome)
}

/// How long a claim may take that takes back its mark, in seconds: longer than any request lives.
const UNMARKED_WITHIN: &str = "60";

/// Repositories of which a process knows that something was claimed there; it only saves a round trip to know it.
const MOST_SEEN: usize = 4_096;
static SEEN: LazyLock<Cache<(usize, RepoId), ()>> = LazyLock::new(|| Cache::new(MOST_SEEN));

fn is_seen(store: &dyn Store, entry: &AdmissionTerms<'_>) -> bool {
    SEEN.get(&(address_of(store), entry.repo.clone())).is_some()
}

fn note_seen(store: &dyn Store, entry: &AdmissionTerms<'_>) {
    SEEN.insert((address_of(store), entry.repo.clone()), ());
}

/// Tells one store of this process from another.
fn address_of(store: &dyn Store) -> usize {
    std::ptr::from_ref(store).cast::<()>().addr()
}

fn claim_keys(entry: &AdmissionTerms<'_>) -> Vec<String> {
    let mut keys = branch_keys(entry);
    keys.push(keys::releases(entry.repo));
    keys.push(keys::token(entry.repo));
    keys
}

fn claim_arguments(entry: &AdmissionTerms<'_>, wanted: &Wanted<'_>, kind: Kind) -> Vec<Vec<u8>> {
    let mut args = entry.arguments(kind, wanted.paths.len());
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
        "STALE" => Ok(ClaimOutcome::Stale(read_claim(reply)?)),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

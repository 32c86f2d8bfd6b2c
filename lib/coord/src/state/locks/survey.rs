//! The findings of a check or a claim.

use coord_graph::spelling;
use coord_protocol::{ClaimBefore, SuggestedTask};

use super::gate::Gate;
use crate::domain::{FilePath, LockEntry, LockMode};
use crate::state::admission::SeenHead;
use crate::state::reply::Reply;
use crate::state::teams::Membership;
use crate::store::StoreError;

/// How a lock concerns a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It is on a requested file.
    Direct,
    /// It is on a neighbor of a requested file.
    Neighbor,
    /// It is on a requested file, on another branch.
    CrossBranch,
    /// It is no lock: the file is reserved for a claim that was refused before. Its `expiry` is that of the reservation, or of the last
    /// lock that the claim waits for.
    Reserved,
    /// It is no lock: such a claim wants the file, and blocks nobody. Only checks find it.
    Waiting,
    /// It is no lock: a change of the requested file on a work branch, which is not on the branch yet.
    Pending,
    /// It is no lock: such a change of a file that the requested one imports, with another interface.
    PendingInterface,
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
    /// Whether it is on a file that several may write at once.
    pub is_shared: bool,
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
    /// The place of a claim that was refused for others' locks, where there was room for a ticket.
    pub queued: Option<Queued>,
    /// What a claim costs others, where that is much and new.
    pub cost: Option<ClaimCost>,
    /// What intents say of it.
    pub gate: Gate,
    /// What waits for the caller in its teams.
    pub waiting: Vec<Membership>,
    /// Tasks of these that are ready and whose files are free, where others' locks block.
    pub suggested: Vec<SuggestedTask>,
    /// Files near to the requested ones that are free, where others' locks block.
    pub free: Vec<String>,
}

/// A place in the queue of a repository: `includes/queue.lua`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Its ticket.
    pub ticket: String,
    /// From 1 on, among the claims that want one of the files.
    pub position: u64,
    /// The first claims before it.
    pub before: Vec<ClaimBefore>,
    /// Login and agent of holders that block the claim while they wait for the caller.
    pub mutual: Vec<(String, Option<String>)>,
}

impl Queued {
    pub(super) fn read(reply: &mut Reply) -> Result<Option<Self>, StoreError> {
        reply.tuple(|place| match place.has_more() {
            false => Ok(None),
            true => Ok(Some(Queued {
                ticket: place.text()?,
                position: place.number()?.unsigned_abs(),
                before: place.tuples(|claim| {
                    Ok(ClaimBefore {
                        user: claim.text()?,
                        agent_id: claim.optional_text()?,
                        message: claim.text()?,
                        since: claim.number()?,
                    })
                })?,
                mutual: place.tuples(|holder| Ok((holder.text()?, holder.optional_text()?)))?,
            })),
        })
    }
}

/// What a claim keeps others from writing: neighbors of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimCost {
    /// The neighbors of all files whose interfaces it may change.
    pub neighbors: u64,
    /// The file with most of them.
    pub file_path: String,
    /// Whether it keeps them out even where it keeps the interface.
    pub is_whatever_changes: bool,
}

impl ClaimCost {
    pub(super) fn read(reply: &mut Reply) -> Result<Option<Self>, StoreError> {
        reply.tuple(|cost| match cost.has_more() {
            false => Ok(None),
            true => Ok(Some(ClaimCost {
                neighbors: cost.number()?.unsigned_abs(),
                file_path: cost.text()?,
                is_whatever_changes: cost.flag()?,
            })),
        })
    }
}

/// A requested file that is not tracked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelled {
    /// The file as requested.
    pub file_path: String,
    /// Tracked files that differ from it in case alone, four at most; empty for a new file.
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
    /// The agent that held it, where the claim takes it over.
    pub taken_from: Option<String>,
}

pub(super) fn read_survey(reply: &mut Reply) -> Result<Survey, StoreError> {
    let (now, head) = (reply.now, SeenHead::read(reply)?);
    let (is_behind, is_behind_for_certain) = match reply.text()?.as_str() {
        "0" => (false, false),
        "1" => (true, true),
        "?" => (true, false),
        _ => return Err(reply.malformed("neither yes nor no to whether the caller is behind")),
    };
    Ok(Survey {
        now,
        head,
        is_behind,
        is_behind_for_certain,
        graph_version: reply.optional_text()?,
        omitted: reply.number()?.unsigned_abs(),
        findings: reply.tuples(|tuple| {
            let relation = match tuple.text()?.as_str() {
                "DIRECT" => Relation::Direct,
                "NEIGHBOR" => Relation::Neighbor,
                "CROSS_BRANCH" => Relation::CrossBranch,
                "RESERVED" => Relation::Reserved,
                "WAITING" => Relation::Waiting,
                "PENDING" => Relation::Pending,
                "PENDING_INTERFACE" => Relation::PendingInterface,
                _ => return Err(tuple.malformed("an unknown relation")),
            };
            let (blocks, via, sign) = (tuple.flag()?, tuple.text()?, tuple.text()?);
            Ok(Finding {
                relation,
                blocks,
                via,
                direction: match sign.as_str() {
                    ">" => Some(Direction::Imports),
                    "<" => Some(Direction::ImportedBy),
                    _ => None,
                },
                is_shared: sign == "=",
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
        queued: None,
        cost: None,
        gate: Gate::default(),
        waiting: Vec::new(),
        suggested: Vec::new(),
        free: Vec::new(),
    })
}

/// What `teams/includes/suggested.lua` gives.
pub(in crate::state) fn read_suggested(reply: &mut Reply) -> Result<Vec<SuggestedTask>, StoreError> {
    reply.tuples(|tuple| {
        Ok(SuggestedTask {
            id: tuple.text()?,
            title: tuple.text()?,
            team: tuple.text()?,
            created_by: tuple.text()?,
            login: tuple.optional_text()?,
        })
    })
}

/// How other spellings of `paths` are looked up.
pub(super) fn lookups(paths: &[FilePath]) -> String {
    paths.iter().map(|path| spelling::lookup(path.as_str())).collect()
}

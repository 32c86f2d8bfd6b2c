//! The findings of a check or a claim.

use coord_graph::spelling;
use coord_protocol::{ClaimBefore, SuggestedTask};
use serde::{Deserialize, Deserializer};

use super::gate::{GateFinding, GateFindings};
use crate::admission::ReportedHead;
use crate::reply::{JsonText, Reply, unwrap_json_texts};
use crate::seams::Membership;
use coord_domain::{CommitSha, FilePath, LockEntry, LockMode};
use coord_store::StoreError;

/// How a lock concerns a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Relation {
    /// It is on a requested file.
    Direct,
    /// It is on a neighbor of a requested file.
    Neighbor,
    /// It is on a requested file, on another branch.
    CrossBranch,
    /// It is not a lock: the file is reserved for a claim that was refused before. Its `expiry` is that of the reservation, or of the
    /// last lock that the claim waits for.
    Reserved,
    /// It is not a lock: such a claim waits for the file, and does not block. Only checks find it.
    Waiting,
    /// It is not a lock: a change of the requested file on a work branch, which is not on the branch yet.
    Pending,
    /// It is not a lock: such a change of a file that the requested one imports, with another interface.
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
    pub relation: Relation,
    /// Whether it blocks the request.
    pub blocks: bool,
    /// The requested file that it concerns.
    pub via: String,
    /// For a neighbor: which file imports the other.
    pub direction: Option<Direction>,
    /// Whether it is on a file that several may write at once.
    pub is_shared: bool,
    pub entry: LockEntry,
}

/// The findings of a script, all at one instant of the store's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// That instant, Unix seconds.
    pub now: i64,
    /// Head of the branch.
    pub head: ReportedHead,
    /// Whether the caller's working copy lacks the head, as far as is known.
    pub is_behind: bool,
    /// Whether it certainly lacks the head: one of the caller's commits is an older one of the branch.
    pub is_known_behind: bool,
    /// The commit whose import graph is stored, if any.
    pub graph_version: Option<String>,
    /// How many locked neighbors are not in `findings`.
    pub omitted: u64,
    /// Others' locks that concern the request; among neighbors, blocking ones come first.
    pub findings: Vec<Finding>,
    /// The caller's own locks on the requested files.
    pub own: Vec<LockEntry>,
    /// The requested files that are tracked only under other spellings.
    pub spelled: Vec<SpellingHint>,
    /// The caller's locks on the requested files before a claim.
    pub held: Vec<PriorLock>,
    /// The position of a claim that others' locks block, if there was room for a ticket.
    pub queued: Option<QueuePosition>,
    /// A claim's cost to others, if it is high and new.
    pub cost: Option<ClaimCost>,
    pub gate: GateFindings,
    /// Pending messages and questions for the caller in its teams.
    pub waiting: Vec<Membership>,
    /// If others' locks block: tasks of the caller's teams that are ready and whose files are free.
    pub suggested: Vec<SuggestedTask>,
    /// If others' locks block: free files near the requested ones.
    pub free: Vec<String>,
}

/// A position in the queue of a repository: `modules/queue.lua`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct QueuePosition {
    pub ticket: String,
    /// From 1 on, among the claims that want one of the files.
    pub position: u64,
    /// The first claims before it.
    #[serde(default)]
    pub before: Vec<ClaimBefore>,
    /// Login and agent of holders that block the claim while they wait for the caller.
    #[serde(default, deserialize_with = "logins_and_agents")]
    pub mutual: Vec<(String, Option<String>)>,
}

/// The files that a claim blocks for others: neighbors of its files.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ClaimCost {
    /// The number of neighbors of all files whose interfaces the claim may change.
    pub neighbors: u64,
    /// The file with the most neighbors.
    pub file_path: String,
    /// Whether the claim blocks its neighbors even if it keeps the interface.
    pub blocks_always: bool,
}

/// A requested file that is not tracked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpellingHint {
    /// The file as requested.
    pub file_path: String,
    /// Tracked files that differ from it only in case, at most four; empty for a new file.
    pub tracked: Vec<String>,
}

/// A lock that the caller had before its claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorLock {
    pub file_path: String,
    pub status: LockMode,
    /// Since when, Unix seconds.
    pub since: i64,
    /// The caller's earlier message.
    pub message: String,
    /// The agent that held it, if the claim takes it over.
    pub taken_from: Option<String>,
}

/// The answer of a check or a claim: `modules/answer.lua` begins it, and the functions complete it.
#[derive(Deserialize)]
pub struct SurveyAnswer {
    head: CommitSha,
    head_age: Option<u64>,
    #[serde(default)]
    is_unconfirmed: bool,
    behind: Option<Behind>,
    graph_version: Option<String>,
    #[serde(default)]
    omitted: u64,
    #[serde(default)]
    findings: Vec<RawFinding>,
    #[serde(default)]
    own: Vec<JsonText<LockEntry>>,
    #[serde(default)]
    spelled: Vec<RawSpelling>,
    intent: Option<String>,
    #[serde(default)]
    gate: Vec<GateFinding>,
    #[serde(default)]
    held: Vec<(String, LockMode, i64, String, String)>,
    queue: Option<QueuePosition>,
    cost: Option<ClaimCost>,
    #[serde(default)]
    waiting: Vec<Membership>,
    #[serde(default)]
    suggested: Vec<SuggestedTask>,
    #[serde(default)]
    free: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Behind {
    Yes,
    Maybe,
}

/// A [`Finding`] as `modules/survey.lua` makes it.
#[derive(Deserialize)]
struct RawFinding {
    relation: Relation,
    blocks: bool,
    via: String,
    #[serde(default)]
    sign: String,
    entry: JsonText<LockEntry>,
}

/// A [`SpellingHint`] as `builds/modules/spelling.lua` makes it.
#[derive(Deserialize)]
struct RawSpelling {
    file_path: String,
    #[serde(default)]
    ends: String,
}

/// A holder that waits for the caller.
#[derive(Deserialize)]
struct Waiter {
    user: String,
    agent_id: Option<String>,
}

fn logins_and_agents<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Option<String>)>, D::Error> {
    let waiters = Vec::<Waiter>::deserialize(deserializer)?.into_iter();
    Ok(waiters.map(|waiter| (waiter.user, waiter.agent_id)).collect())
}

impl SurveyAnswer {
    /// The survey at the time `now`.
    pub fn survey(self, now: i64) -> Survey {
        Survey {
            now,
            head: ReportedHead {
                commit: self.head,
                age: self.head_age,
                is_unconfirmed: self.is_unconfirmed,
            },
            is_behind: self.behind.is_some(),
            is_known_behind: matches!(self.behind, Some(Behind::Yes)),
            graph_version: self.graph_version,
            omitted: self.omitted,
            findings: self.findings.into_iter().map(Finding::from).collect(),
            own: unwrap_json_texts(self.own),
            spelled: self.spelled.into_iter().map(SpellingHint::from).collect(),
            held: self.held.into_iter().map(PriorLock::from).collect(),
            queued: self.queue,
            cost: self.cost,
            gate: GateFindings {
                intent: self.intent,
                findings: self.gate,
            },
            waiting: self.waiting,
            suggested: self.suggested,
            free: self.free,
        }
    }
}

impl From<RawFinding> for Finding {
    fn from(raw: RawFinding) -> Self {
        Finding {
            relation: raw.relation,
            blocks: raw.blocks,
            via: raw.via,
            direction: match raw.sign.as_str() {
                ">" => Some(Direction::Imports),
                "<" => Some(Direction::ImportedBy),
                _ => None,
            },
            is_shared: raw.sign == "=",
            entry: raw.entry.0,
        }
    }
}

impl From<RawSpelling> for SpellingHint {
    fn from(RawSpelling { file_path, ends }: RawSpelling) -> Self {
        SpellingHint {
            tracked: ends
                .split_terminator('\n')
                .map(|end| spelling::spelled(&file_path, end))
                .collect(),
            file_path,
        }
    }
}

impl From<(String, LockMode, i64, String, String)> for PriorLock {
    fn from((file_path, status, since, message, taken_from): (String, LockMode, i64, String, String)) -> Self {
        PriorLock {
            file_path,
            status,
            since,
            message,
            taken_from: Some(taken_from).filter(|agent_id| !agent_id.is_empty()),
        }
    }
}

/// Reads the answer of a check or a claim.
pub(super) fn read_survey(reply: &Reply) -> Result<Survey, StoreError> {
    let answer: SurveyAnswer = reply.object()?;
    Ok(answer.survey(reply.now))
}

/// The lookups by which scripts find other spellings of `paths`.
pub(super) fn lookups(paths: &[FilePath]) -> String {
    paths.iter().map(|path| spelling::lookup(path.as_str())).collect()
}

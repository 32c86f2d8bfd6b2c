//! Events: one for each change of a repository's state. A script writes an event to the log and publishes it.

use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{AnyOfBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::error::ErrorCode;
use crate::intent_event::{FilesTakenOver, IntentChange, OverlapAllowed};
use crate::locks::{LockMode, LockStatus};
use crate::orchestration::Action;
use crate::schema::{AgentId, Branch, CommitSha, FilePath, IntentId};
use crate::team_event::{MessageSent, ShutdownChange, TaskChange, TasksCreated, TasksUnblocked, TeamChange};

/// A change of a repository's state, by its `type`. Later versions may have more types and fields: ignore unknown ones.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// Files were claimed.
    LockGranted(LockChange),
    /// A claim was renewed: its locks expire later, or belong to the agent that took over its handle.
    LockRenewed(LockChange),
    /// Locks were released.
    LockReleased(LocksEnded),
    /// Locks expired. Each expiry is published once: by the sweep, or by the first script that finds it.
    LockExpired(LocksEnded),
    /// A claim or a release was refused. The same refusal is published once a minute at most.
    LockRefused(LockRefusal),
    /// Files that have become free are reserved for a claim that was refused before.
    LockReserved(LockReservation),
    /// The interface of a file changed, although its writer promised to keep it.
    InterfaceChanged(InterfaceChanged),
    /// The head of the branch moved.
    HeadMoved(HeadMoved),
    /// A new graph of the branch was published.
    GraphUpdate(GraphUpdate),
    /// A build of the graph made progress. Published at most once a second, and not in the log.
    GraphProgress(GraphProgress),
    /// An intent was written, changed, or has another status.
    IntentChanged(IntentChange),
    /// A person allowed two intents to overlap.
    IntentOverlapAllowed(OverlapAllowed),
    /// A person has made an intent the owner of files.
    FileTakenOver(FilesTakenOver),
    /// The oldest lines of the ledger were dropped, because it has more than the operator keeps.
    LedgerTrimmed(LedgerTrimmed),
    /// Tasks were added to a team.
    TaskCreated(TasksCreated),
    /// A task was edited or assigned.
    TaskUpdated(TaskChange),
    /// A member claimed a task.
    TaskClaimed(TaskChange),
    /// A member completed its task.
    TaskCompleted(TaskChange),
    /// A claim was released: other members may claim the task.
    TaskReleased(TaskChange),
    /// A claim expired. Each is published once: by the sweep, or by the first script that finds it.
    TaskLapsed(TaskChange),
    /// A task was removed.
    TaskDeleted(TaskChange),
    /// All dependencies of these tasks are met.
    TaskUnblocked(TasksUnblocked),
    /// A message was sent.
    MessageSent(MessageSent),
    /// A team or its members changed.
    TeamChanged(TeamChange),
    /// A shutdown was asked for, answered, or ended.
    ShutdownChanged(ShutdownChange),
}

impl Event {
    /// Its `type`.
    pub fn name(&self) -> &'static str {
        match self {
            Event::LockGranted(_) => "lock_granted",
            Event::LockRenewed(_) => "lock_renewed",
            Event::LockReleased(_) => "lock_released",
            Event::LockExpired(_) => "lock_expired",
            Event::LockRefused(_) => "lock_refused",
            Event::LockReserved(_) => "lock_reserved",
            Event::InterfaceChanged(_) => "interface_changed",
            Event::HeadMoved(_) => "head_moved",
            Event::GraphUpdate(_) => "graph_update",
            Event::GraphProgress(_) => "graph_progress",
            Event::IntentChanged(_) => "intent_changed",
            Event::IntentOverlapAllowed(_) => "intent_overlap_allowed",
            Event::FileTakenOver(_) => "file_taken_over",
            Event::LedgerTrimmed(_) => "ledger_trimmed",
            Event::TaskCreated(_) => "task_created",
            Event::TaskUpdated(_) => "task_updated",
            Event::TaskClaimed(_) => "task_claimed",
            Event::TaskCompleted(_) => "task_completed",
            Event::TaskReleased(_) => "task_released",
            Event::TaskLapsed(_) => "task_lapsed",
            Event::TaskDeleted(_) => "task_deleted",
            Event::TaskUnblocked(_) => "task_unblocked",
            Event::MessageSent(_) => "message_sent",
            Event::TeamChanged(_) => "team_changed",
            Event::ShutdownChanged(_) => "shutdown_changed",
        }
    }

    /// The files that the event names: 20 at most.
    pub fn files(&self) -> &[String] {
        let files = match self {
            Event::LockGranted(change) | Event::LockRenewed(change) => &change.files,
            Event::LockReleased(locks) | Event::LockExpired(locks) => match locks {
                LocksEnded::OfClaim(change) => &change.files,
                LocksEnded::OfMany(many) => &many.files,
            },
            Event::LockRefused(refusal) => &refusal.files,
            Event::LockReserved(reservation) => &reservation.files,
            Event::FileTakenOver(takeover) => &takeover.files,
            Event::InterfaceChanged(change) => &change.files,
            _ => &None,
        };
        files.as_deref().unwrap_or_default()
    }

    /// The orchestration command that the agent got.
    pub fn action(&self) -> Option<Action> {
        match self {
            Event::LockGranted(_) | Event::LockRenewed(_) | Event::LockReleased(_) => Some(Action::Proceed),
            Event::LockRefused(refusal) => refusal.action(),
            _ => None,
        }
    }

    /// The branch of the event. Events of teams, of intents and of the ledger have none, nor does one for locks of many
    /// claims that ended at once.
    pub fn branch(&self) -> Option<&str> {
        match self {
            Event::LockGranted(change) | Event::LockRenewed(change) => Some(&change.branch),
            Event::LockReleased(LocksEnded::OfClaim(change)) | Event::LockExpired(LocksEnded::OfClaim(change)) => {
                Some(&change.branch)
            }
            Event::LockReleased(LocksEnded::OfMany(_)) | Event::LockExpired(LocksEnded::OfMany(_)) => None,
            Event::LockRefused(refusal) => Some(&refusal.branch),
            Event::LockReserved(reservation) => Some(&reservation.branch),
            Event::InterfaceChanged(change) => Some(&change.branch),
            Event::HeadMoved(head) => Some(&head.branch),
            Event::GraphUpdate(update) => Some(&update.branch),
            Event::GraphProgress(progress) => Some(&progress.branch),
            Event::FileTakenOver(takeover) => takeover.branch.as_deref(),
            _ => None,
        }
    }

    /// The team of the event.
    pub fn team(&self) -> Option<&str> {
        match self {
            Event::TaskCreated(tasks) => Some(&tasks.team),
            Event::TaskUpdated(change)
            | Event::TaskClaimed(change)
            | Event::TaskCompleted(change)
            | Event::TaskReleased(change)
            | Event::TaskLapsed(change)
            | Event::TaskDeleted(change) => Some(&change.team),
            Event::TaskUnblocked(tasks) => Some(&tasks.team),
            Event::MessageSent(message) => Some(&message.team),
            Event::TeamChanged(change) => Some(&change.team),
            Event::ShutdownChanged(change) => Some(&change.team),
            _ => None,
        }
    }
}

wire! {
    /// An event as it is published, with its id if it is in the log.
    pub struct PublishedEvent {
        /// Its id in the log, from which a reader resumes.
        pub id: maybe String,
        /// The orchestration command that the agent got; on the channel of the store there is none.
        pub action: maybe Action,
        /// The event.
        #[serde(flatten)]
        pub event: Event,
    }
}

impl PublishedEvent {
    /// `event` with its id, if it is in the log, and its command.
    pub fn new(id: Option<String>, event: Event) -> PublishedEvent {
        PublishedEvent {
            id,
            action: event.action(),
            event,
        }
    }
}

wire! {
    /// Locks that one claim has changed.
    pub struct LockChange {
        /// Verified login of the holder.
        pub user: String,
        /// The holder's display name; the login if none is known.
        pub user_name: String,
        /// The agent of the holder.
        pub agent_id: maybe AgentId as String,
        /// The intent that the locks are for.
        pub intent_id: maybe IntentId as String,
        /// The branch.
        #[schema(value_type = Branch)]
        pub branch: String,
        /// The branch that the holder commits to, if it is not `branch`.
        pub work_branch: maybe Branch as String,
        /// The mode of the locks.
        pub status: LockMode,
        /// The holder's description of its work, and the reason.
        #[schema(min_length = 1, max_length = 500)]
        pub message: String,
        /// Login of the person who force-released the locks; `message` is the reason.
        pub forced_by: maybe String,
        /// In `lock_released`: whether the holder's push of these files was proved. `false` for files that were only read, were not
        /// changed, or whose changes were abandoned; absent for a release by force, and in events of older versions.
        pub is_pushed: maybe bool,
        /// Fencing token of the locks.
        #[schema(minimum = 1)]
        pub token: i64,
        /// The files: 20 at most, of 1 KiB together.
        #[schema(min_items = 1, max_items = 20)]
        pub files: maybe Vec<FilePath> as Vec<String>,
        /// Number of files.
        #[schema(minimum = 1)]
        pub file_count: u32,
        /// When the locks expire unless they are renewed, Unix seconds.
        #[schema(minimum = 0)]
        pub expiry: i64,
        /// The same in milliseconds; absent for locks of older versions, which had seconds only.
        #[schema(minimum = 0)]
        pub expiry_ms: maybe i64,
        /// When it happened, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
        /// The same in milliseconds.
        #[schema(minimum = 0)]
        pub time_ms: i64,
    }
}

/// Locks that have ended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum LocksEnded {
    /// Those of one claim.
    OfClaim(Box<LockChange>),
    /// Those of all claims beyond the 512th that ended at once.
    OfMany(ManyLocks),
}

/// A derived schema would be `oneOf`. That is wrong here: `ManyLocks` also matches the locks of one claim.
impl PartialSchema for LocksEnded {
    fn schema() -> RefOr<Schema> {
        AnyOfBuilder::new()
            .item(Ref::from_schema_name("LockChange"))
            .item(Ref::from_schema_name("ManyLocks"))
            .description(Some(
                "Locks of one claim, or of all claims beyond the 512th that ended at once.",
            ))
            .into()
    }
}

impl ToSchema for LocksEnded {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push(("ManyLocks".to_owned(), ManyLocks::schema()));
    }
}

wire! {
    /// Locks of so many claims that one event stands for them.
    pub struct ManyLocks {
        /// The files: 20 at most, of 1 KiB together.
        #[schema(min_items = 1, max_items = 20)]
        pub files: maybe Vec<FilePath> as Vec<String>,
        /// Number of files.
        #[schema(minimum = 1)]
        pub file_count: u32,
        /// When it happened, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
    }
}

/// Why a claim or a release was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RefusalReason {
    /// The working copy is behind the branch.
    Stale,
    /// Someone else's lock blocks the request.
    Conflict,
    /// There is no room for more locks.
    Full,
    /// The changes are not on the branch.
    NotPushed,
    /// The lock belongs to another holder now.
    Lost,
    /// An intent refuses it, or none is selected; the code names the rule.
    Intent,
}

impl RefusalReason {
    /// The orchestration command of such a refusal. It is `None` for `Full`, which depends on who has too many locks,
    /// and for `Intent`, which depends on the code.
    pub fn action(self) -> Option<Action> {
        match self {
            RefusalReason::Stale => Some(Action::Pull),
            RefusalReason::Conflict => Some(Action::Wait),
            RefusalReason::Full | RefusalReason::Intent => None,
            RefusalReason::NotPushed => Some(Action::Push),
            RefusalReason::Lost => Some(Action::Stop),
        }
    }
}

wire! {
    /// A claim or a release that was refused.
    pub struct LockRefusal {
        /// Verified login of the caller.
        pub user: String,
        /// The caller's display name; the login if none is known.
        pub user_name: String,
        /// The agent of the caller.
        pub agent_id: maybe AgentId as String,
        /// The branch.
        #[schema(value_type = Branch)]
        pub branch: String,
        /// The requested status.
        pub status: LockStatus,
        /// The message of the request.
        #[schema(max_length = 500)]
        pub message: String,
        /// Why it was refused.
        pub reason: RefusalReason,
        /// With INTENT, the code of the error that the caller got.
        #[schema(pattern = "^[A-Z][A-Z_]*$")]
        pub code: maybe String as ErrorCode,
        /// With INTENT, the intent that the request is for.
        pub intent_id: maybe IntentId as String,
        /// The files of the request: 20 at most, of 1 KiB together.
        #[schema(min_items = 1, max_items = 20)]
        pub files: maybe Vec<FilePath> as Vec<String>,
        /// Number of files.
        #[schema(minimum = 1)]
        pub file_count: u32,
        /// The files whose locks block the request: 20 at most, of 1 KiB together.
        #[schema(min_items = 1, max_items = 20)]
        pub conflicts: maybe Vec<FilePath> as Vec<String>,
        /// Number of these files.
        #[schema(minimum = 0)]
        pub conflict_count: maybe u32,
        /// How often the same request was refused since the last event about it.
        #[schema(minimum = 1)]
        pub repeated: maybe u64,
        /// When it happened, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
        /// The same in milliseconds.
        #[schema(minimum = 0)]
        pub time_ms: i64,
    }
}

impl LockRefusal {
    /// The orchestration command of the refusal; `None` if it does not follow from the event.
    pub fn action(&self) -> Option<Action> {
        self.code.map_or_else(|| self.reason.action(), ErrorCode::intent_action)
    }
}

wire! {
    /// Files that are reserved for a claim that waits.
    pub struct LockReservation {
        /// Verified login of the caller whose claim it is.
        pub user: String,
        /// The caller's display name; the login if none is known.
        pub user_name: String,
        /// The agent of the caller.
        pub agent_id: maybe AgentId as String,
        /// The branch.
        #[schema(value_type = Branch)]
        pub branch: String,
        /// The mode of the claim.
        pub status: LockMode,
        /// The caller's description of its work, and the reason.
        #[schema(min_length = 1, max_length = 500)]
        pub message: String,
        /// The ticket of the claim.
        pub ticket: String,
        /// The files: 20 at most, of 1 KiB together.
        #[schema(min_items = 1, max_items = 20)]
        pub files: maybe Vec<FilePath> as Vec<String>,
        /// Number of files.
        #[schema(minimum = 1)]
        pub file_count: u32,
        /// When the reservation ends, Unix seconds.
        #[schema(minimum = 0)]
        pub expiry: i64,
        /// The same in milliseconds.
        #[schema(minimum = 0)]
        pub expiry_ms: i64,
        /// When it began, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
        /// The same in milliseconds.
        #[schema(minimum = 0)]
        pub time_ms: i64,
    }

    /// A file whose interface changed, although its writer promised to keep it.
    pub struct InterfaceChanged {
        /// Verified login of the writer.
        pub user: String,
        /// The writer's display name; the login if none is known.
        pub user_name: String,
        /// The agent of the writer.
        pub agent_id: maybe AgentId as String,
        /// The branch.
        #[schema(value_type = Branch)]
        pub branch: String,
        /// The file; absent where its path is very long.
        #[schema(min_items = 1, max_items = 1)]
        pub files: maybe Vec<FilePath> as Vec<String>,
        /// Number of files.
        #[schema(minimum = 1, maximum = 1)]
        pub file_count: u32,
        /// Names whose heads differ: 20 at most, of 1 KiB together; absent where the interface could not be read.
        #[schema(min_items = 1, max_items = 20)]
        pub names: maybe Vec<String>,
        /// Number of locks on neighbors whose holders are notified.
        pub told: u32,
        /// When Coord noticed, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
        /// The same in milliseconds.
        #[schema(minimum = 0)]
        pub time_ms: i64,
    }

    /// A branch whose head moved.
    pub struct HeadMoved {
        /// The branch.
        #[schema(value_type = Branch)]
        pub branch: String,
        /// Its head.
        #[schema(value_type = CommitSha)]
        pub head: String,
        /// Its previous head; absent for a branch that Coord did not know.
        pub previous: maybe CommitSha as String,
        /// When Coord received it, Unix seconds.
        #[schema(minimum = 0)]
        pub time: i64,
    }
}

/// A graph that is published.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct GraphUpdate {
    /// The branch.
    #[schema(value_type = Branch)]
    pub branch: String,
    /// The commit of the graph.
    #[schema(value_type = CommitSha)]
    pub version: String,
    /// When it was published, Unix seconds.
    #[schema(minimum = 0)]
    pub time: i64,
}

/// Progress of a build.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct GraphProgress {
    /// The branch.
    #[schema(value_type = Branch)]
    pub branch: String,
    /// The commit that the graph will be of.
    #[schema(value_type = CommitSha)]
    pub version: String,
    /// Number of files of the commit.
    pub files: u64,
    /// Number of these that are read for their imports.
    pub wanted: u64,
    /// Number of these that have been read.
    pub scanned: u64,
    /// When it was published, Unix seconds.
    #[schema(minimum = 0)]
    pub time: i64,
}

/// Lines of the ledger that were dropped.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct LedgerTrimmed {
    /// Number of dropped lines.
    #[schema(minimum = 1)]
    pub lines: u64,
    /// The point after which the kept lines begin: `COUNT:HASH`.
    #[schema(pattern = "^[1-9][0-9]*:[0-9a-f]{64}$")]
    pub base: String,
    /// When it happened, Unix seconds.
    #[schema(minimum = 0)]
    pub time: i64,
}

/// One event of each type, for the OpenAPI document.
pub const EXAMPLES: &str = r#"[
  { "type": "lock_granted", "user": "ada", "user_name": "Ada", "agent_id": "lexer", "intent_id": "REQ-POOL-001",
    "branch": "main", "status": "WRITING",
    "message": "Adding connection pooling", "token": 17953062240000, "files": ["src/db.ts"], "file_count": 1,
    "expiry": 1795306524, "expiry_ms": 1795306524000, "time": 1795306224, "time_ms": 1795306224000 },
  { "type": "lock_renewed", "user": "ada", "user_name": "Ada", "branch": "main", "status": "READING",
    "message": "Reading how queries are pooled", "token": 17953062240000, "files": ["src/db.ts", "src/pool.ts"], "file_count": 2,
    "expiry": 1795306524, "expiry_ms": 1795306524000, "time": 1795306224, "time_ms": 1795306224000 },
  { "type": "lock_released", "user": "ada", "user_name": "Ada", "branch": "main", "work_branch": "pool", "status": "WRITING",
    "message": "Adding connection pooling", "is_pushed": true, "token": 17953062240000, "files": ["src/db.ts"], "file_count": 1,
    "expiry": 1795306524, "expiry_ms": 1795306524000, "time": 1795306254, "time_ms": 1795306254000 },
  { "type": "lock_released", "user": "ada", "user_name": "Ada", "branch": "main", "status": "WRITING",
    "message": "The release needs this file", "forced_by": "eve", "token": 17953062240000, "files": ["src/db.ts"], "file_count": 1,
    "expiry": 1795306524, "expiry_ms": 1795306524000, "time": 1795306254, "time_ms": 1795306254000 },
  { "type": "lock_expired", "files": ["src/db.ts"], "file_count": 700, "time": 1795306527 },
  { "type": "lock_refused", "user": "bob", "user_name": "Bob", "branch": "main", "status": "WRITING",
    "message": "Renaming query()", "reason": "CONFLICT", "files": ["src/db.ts"], "file_count": 1, "conflicts": ["src/db.ts"],
    "conflict_count": 1, "repeated": 3, "time": 1795306230, "time_ms": 1795306230000 },
  { "type": "lock_refused", "user": "bob", "user_name": "Bob", "branch": "main", "status": "WRITING",
    "message": "Renaming query()", "reason": "INTENT", "code": "FILE_OWNED", "files": ["src/db.ts"], "file_count": 1,
    "conflicts": ["src/db.ts"], "conflict_count": 1, "time": 1795306230, "time_ms": 1795306230000 },
  { "type": "lock_reserved", "user": "bob", "user_name": "Bob", "branch": "main", "status": "WRITING",
    "message": "Renaming query()", "ticket": "43f052472c2f", "files": ["src/db.ts"], "file_count": 1, "expiry": 1795306274,
    "expiry_ms": 1795306274000, "time": 1795306254, "time_ms": 1795306254000 },
  { "type": "interface_changed", "user": "ada", "user_name": "Ada", "branch": "main", "files": ["src/db.ts"],
    "file_count": 1, "names": ["query"],
    "told": 1, "time": 1795306254, "time_ms": 1795306254000 },
  { "type": "head_moved", "branch": "main", "head": "99cc7da9399f806a758cf80dab931201cf07c67e",
    "previous": "9bee4e10f4a4a5cf3bd2e0c6ce2bb6ae1c0a8e55", "time": 1795306254 },
  { "type": "graph_update", "branch": "main", "version": "99cc7da9399f806a758cf80dab931201cf07c67e", "time": 1795306256 },
  { "type": "graph_progress", "branch": "main", "version": "99cc7da9399f806a758cf80dab931201cf07c67e", "files": 1200,
    "wanted": 1000, "scanned": 250, "time": 1795306255 },
  { "type": "intent_changed", "user": "ada", "user_name": "Ada", "agent_id": "lexer", "intent_id": "REQ-POOL-1",
    "status": "BLOCKED", "previous": "IN_PROGRESS", "reason": "The budget of intent REQ-POOL-1 is spent: 50 of 50 turns",
    "time": 1795306254, "time_ms": 1795306254000 },
  { "type": "intent_overlap_allowed", "user": "ada", "user_name": "Ada", "intent_id": "REQ-POOL-1", "other": "REQ-POOL-2",
    "time": 1795306254, "time_ms": 1795306254000 },
  { "type": "file_taken_over", "user": "ada", "user_name": "Ada", "intent_id": "REQ-POOL-2", "previous": "REQ-POOL-1",
    "branch": "main", "files": ["src/db.ts"], "file_count": 1, "time": 1795306254, "time_ms": 1795306254000 },
  { "type": "ledger_trimmed", "lines": 256, "base": "256:43768ac6081e13da4cf31dc3b650d5377ac8e85e329299b131a00c1d75720e45",
    "time": 1795306300 },
  { "type": "task_created", "team": "alpha", "handle": "lead", "user": "ada", "tasks": ["t1", "t2"], "task_count": 2, "time": 1795306224 },
  { "type": "task_updated", "team": "alpha", "task": "t1", "title": "Pool the connections", "handle": "lead", "user": "ada", "time": 1795306225 },
  { "type": "task_claimed", "team": "alpha", "task": "t1", "title": "Pool the connections", "handle": "w1", "user": "bob", "token": 17953062260000,
    "expiry_ms": 1795307126000, "time": 1795306226 },
  { "type": "task_completed", "team": "alpha", "task": "t1", "title": "Pool the connections", "handle": "w1", "user": "bob", "token": 17953062260000, "time": 1795306300 },
  { "type": "task_released", "team": "alpha", "task": "t1", "title": "Pool the connections", "handle": "w1", "user": "bob", "token": 17953062260000, "time": 1795306300 },
  { "type": "task_lapsed", "team": "alpha", "task": "t1", "title": "Pool the connections", "handle": "w1", "user": "bob", "token": 17953062260000, "time": 1795307127 },
  { "type": "task_deleted", "team": "alpha", "task": "t1", "title": "Pool the connections", "handle": "lead", "user": "ada", "time": 1795306400 },
  { "type": "task_unblocked", "team": "alpha", "task": "t1", "tasks": ["t2"], "task_count": 1, "time": 1795306300 },
  { "type": "message_sent", "team": "alpha", "number": 7, "message_type": "plain", "from": "w1", "to": "lead", "recipients": ["lead"],
    "recipient_count": 1, "task": "t1", "time": 1795306301 },
  { "type": "team_changed", "team": "alpha", "change": "joined", "handle": "w1", "user": "bob", "agent_id": "w1", "time": 1795306223 },
  { "type": "shutdown_changed", "team": "alpha", "shutdown": "s1", "state": "requested", "target": "w1", "handle": "lead", "user": "ada",
    "time": 1795306500 }
]"#;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_name_of_an_event_is_its_type() {
        let examples: Vec<serde_json::Value> = serde_json::from_str(EXAMPLES).unwrap();
        let mut names = BTreeSet::new();
        for json in examples {
            let event: Event = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(json["type"], event.name());
            assert_eq!(serde_json::to_value(&event).unwrap(), json);
            names.insert(event.name());
        }
        assert_eq!(names.len(), 25, "an example of each: {names:?}");
    }
}

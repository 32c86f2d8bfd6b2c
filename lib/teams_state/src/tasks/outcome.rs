//! Outcomes of claims, completions and releases of tasks.

use serde::Deserialize;

use super::record::FullTask;
use super::write::Unblocked;
use coord_protocol::tasks::PassedReason;
use coord_state::locks::{ClaimOutcome, ReleaseOutcome, Released, Survey};

/// The outcome of a claim of one task, or of the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskClaim {
    /// The caller has the task now.
    Claimed(Box<ClaimedTask>),
    /// No task is ready for the caller: an outcome of `next_task` only.
    Nothing(Box<NothingReady>),
    /// The files of a task are blocked; nothing was changed.
    Files {
        id: String,
        /// The outcome of the claim of its files.
        because: Box<ClaimOutcome>,
    },
}

/// A task that the caller has claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedTask {
    pub task: FullTask,
    /// Whether the caller already had it.
    pub is_renewal: bool,
    /// The tasks before it in the queue, if it was the next one.
    pub passed: Vec<SkippedTask>,
    /// The survey of the claim of its files, if they are claimed with it.
    pub files: Option<Survey>,
}

/// A ready task that the caller did not get.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SkippedTask {
    pub id: String,
    pub reason: PassedReason,
    /// Handle of the member that it is reserved for, or that has a file.
    pub handle: Option<String>,
    /// Until when, Unix milliseconds.
    pub until: Option<u64>,
    /// Login of the holder of a lock.
    pub user: Option<String>,
    /// The agent of that holder.
    pub agent: Option<String>,
    /// The file, or the branch that it is of.
    pub what: Option<String>,
}

/// A claim for whose end the caller may wait.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HeldTask {
    pub id: String,
    /// Handle of its owner.
    pub owner: String,
    /// When the claim expires unless it is renewed, Unix milliseconds.
    pub expires: i64,
}

/// A task whose claims have expired too often.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HeldBackTask {
    pub id: String,
    /// Handle of its creator. The creator and the leader may clear the count.
    pub creator: String,
}

/// Why open tasks that are neither claimed nor in the queue cannot be claimed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Obstacles {
    /// Up to five tasks that others wait for.
    #[serde(default)]
    pub blocking: Vec<String>,
    /// Up to five tasks that are held back.
    #[serde(default)]
    pub held_back: Vec<HeldBackTask>,
    /// Number of tasks that are held back.
    pub held_back_count: u64,
    /// Handle of the leader.
    pub leader: String,
}

/// How many tasks of a team there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct TaskCounts {
    /// Tasks that were ever added.
    pub made: u64,
    /// Tasks that are not completed.
    pub open: u64,
    pub claimed: u64,
    /// Tasks in the queue.
    pub ready: u64,
}

/// Why there is no next task for the caller.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct NothingReady {
    /// Number of tasks by their state.
    pub counts: TaskCounts,
    /// The next five claims to expire.
    #[serde(default)]
    pub held: Vec<HeldTask>,
    /// Tasks in the queue that are not for the caller now.
    #[serde(default)]
    pub passed: Vec<SkippedTask>,
    /// Why the other open tasks cannot be claimed.
    pub obstacles: Obstacles,
}

/// The outcome of a completion or a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    Completed(Box<CompletedTask>),
    /// The task was released.
    Released(Box<ReleasedTask>),
    /// Its files cannot be released; nothing was changed.
    Files(ReleaseOutcome),
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CompletedTask {
    pub task: FullTask,
    /// Whether the caller had already completed it, so that nothing has changed.
    #[serde(skip)]
    pub was_completed: bool,
    /// Whether it was already completed with another result, which it keeps.
    #[serde(default)]
    pub is_other_result: bool,
    /// Whether the claim had expired.
    #[serde(default)]
    pub had_expired: bool,
    /// The effect on its dependents.
    #[serde(default)]
    pub unblocked: Unblocked,
    /// The files that were released with it.
    pub files: Option<Released>,
}

/// A task that was released.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ReleasedTask {
    pub task: FullTask,
    /// Its files whose locks the caller keeps.
    #[serde(default)]
    pub kept: Vec<String>,
    /// Its other files, which were released.
    pub files: Option<Released>,
}

//! Tasks are claimed, completed and released.

use serde::{Deserialize, Serialize};

use super::files::{ClaimedFiles, ReleasedFiles, run_claim, run_release};
use super::record::FullTask;
use super::scripts::{CLAIM_TASK, COMPLETE_TASK, NEXT_TASK, RELEASE_TASK};
use super::write::Unblocked;
use coord_protocol::tasks::PassedReason;

use crate::locks::{ClaimOutcome, ReleaseAnswer, ReleaseOutcome, Released, Survey, SurveyAnswer};
use crate::reply::Reply;
use crate::teams::{RequestKey, RequestKeyArgs, TeamOutcome, TeamTerms, unknown};
use coord_domain::team::TaskId;
use coord_store::{Store, StoreError};

/// The outcome of a claim of one task, or of the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskClaim {
    /// The caller has a task now.
    Claimed(Box<ClaimedTask>),
    /// No task is ready for the caller: an outcome of [`next_task`] alone.
    Nothing(Box<NothingReady>),
    /// The files of a task are blocked; nothing was changed.
    Files {
        /// The task.
        id: String,
        /// The outcome of the claim of its files.
        because: Box<ClaimOutcome>,
    },
}

/// A task that the caller has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedTask {
    /// The task.
    pub task: FullTask,
    /// Whether the caller had it before.
    pub is_renewal: bool,
    /// The tasks before it in the queue, if it was the next one.
    pub passed: Vec<SkippedTask>,
    /// The survey of a claim of its files, if they are claimed with it.
    pub files: Option<Survey>,
}

/// The answer of a claim that was granted.
#[derive(Deserialize)]
struct GrantedClaim {
    task: FullTask,
    #[serde(default)]
    passed: Vec<SkippedTask>,
    files: Option<SurveyAnswer>,
    files_now: Option<i64>,
}

impl GrantedClaim {
    fn read(reply: &Reply, is_renewal: bool) -> Result<TaskClaim, StoreError> {
        let granted: GrantedClaim = reply.object()?;
        let now = granted.files_now.unwrap_or(reply.now);
        Ok(TaskClaim::Claimed(Box::new(ClaimedTask {
            task: granted.task,
            is_renewal,
            passed: granted.passed,
            files: granted.files.map(|files| files.survey(now)),
        })))
    }
}

/// Arguments of `claim_task.lua` beside the fields of [`ClaimedFiles`].
#[derive(Serialize)]
struct ClaimTaskArgs<'a> {
    task_id: &'a str,
    seconds: u32,
}

/// Claims a task for `seconds`, with its files, or renews its claim.
///
/// # Errors
/// When the store gives no reply, or none that is understood. Even then the claim may have been made.
pub async fn claim_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    seconds: u32,
    files: &ClaimedFiles<'_>,
) -> TeamOutcome<TaskClaim> {
    let claim = ClaimTaskArgs {
        task_id: id.as_str(),
        seconds,
    };
    run_claim(store, &CLAIM_TASK, terms, seconds, &claim, files, |reply| {
        match reply.outcome.as_str() {
            "CLAIMED" | "CLAIMED_FILES" => GrantedClaim::read(reply, false),
            "RENEWED" | "RENEWED_FILES" => GrantedClaim::read(reply, true),
            _ => unknown(reply),
        }
    })
    .await
}

/// A ready task that was not given.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SkippedTask {
    /// Its id.
    pub id: String,
    /// Why.
    pub reason: PassedReason,
    /// Handle of the member that it is kept for, or that has a file.
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

/// A claim that holds the caller up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HeldTask {
    /// The task.
    pub id: String,
    /// Handle of its owner.
    pub owner: String,
    /// When the claim expires unless it is renewed, Unix milliseconds.
    pub expires: i64,
}

/// A task whose claims have expired too often.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HeldBackTask {
    /// The task.
    pub id: String,
    /// Handle of its creator, who may clear that, as the leader may.
    pub creator: String,
}

/// Why open tasks that are neither claimed nor in the queue cannot be claimed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Obstacles {
    /// Up to five tasks that others wait for.
    #[serde(default)]
    pub blocking: Vec<String>,
    /// Up to five that are held back.
    #[serde(default)]
    pub held_back: Vec<HeldBackTask>,
    /// Number of those.
    pub held_back_count: u64,
    /// Handle of the leader.
    pub leader: String,
}

/// How many tasks of a team there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct TaskCounts {
    /// Tasks that were ever added.
    pub made: u64,
    /// Tasks that are not completed; 0: all is done.
    pub open: u64,
    /// Claimed tasks.
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
    /// The reasons why the rest waits.
    pub obstacles: Obstacles,
}

/// Arguments of `next_task.lua` beside the fields of [`ClaimedFiles`].
#[derive(Serialize)]
struct NextTaskArgs<'a> {
    #[serde(flatten)]
    key: RequestKeyArgs,
    seconds: u32,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    skipped: &'a [String],
}

/// Claims the first ready task whose files are free for `seconds`, with these. `skipped`: ids of tasks that intents refuse.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn next_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    key: RequestKey<'_>,
    seconds: u32,
    skipped: &[String],
    files: &ClaimedFiles<'_>,
) -> TeamOutcome<TaskClaim> {
    let next = NextTaskArgs {
        key: key.sent(&NEXT_TASK),
        seconds,
        skipped,
    };
    run_claim(store, &NEXT_TASK, terms, seconds, &next, files, |reply| {
        match reply.outcome.as_str() {
            "CLAIMED" | "CLAIMED_FILES" => GrantedClaim::read(reply, false),
            "NOTHING" => Ok(TaskClaim::Nothing(Box::new(reply.object()?))),
            _ => unknown(reply),
        }
    })
    .await
}

/// The outcome of the end of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    /// The task is completed.
    Completed(Box<CompletedTask>),
    /// The task was released.
    Released(Box<ReleasedTask>),
    /// The files of the task block the release; nothing was changed.
    Files(ReleaseOutcome),
}

/// A task that is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedTask {
    /// The task.
    pub task: FullTask,
    /// Whether the caller had completed it before, so that nothing has changed.
    pub was_completed: bool,
    /// Whether it was completed before with another result, which it keeps.
    pub is_other_result: bool,
    /// Whether the claim had expired.
    pub had_expired: bool,
    /// The effect on its dependents.
    pub unblocked: Unblocked,
    /// The files that were released with it.
    pub files: Option<Released>,
}

/// The answer of the end of a claim.
#[derive(Deserialize)]
struct EndAnswer {
    task: FullTask,
    #[serde(default)]
    is_other_result: bool,
    #[serde(default)]
    had_expired: bool,
    #[serde(default)]
    unblocked: Unblocked,
    #[serde(default)]
    kept: Vec<String>,
    files: Option<ReleaseAnswer>,
}

impl EndAnswer {
    fn completed(self, was_completed: bool) -> TaskEnd {
        TaskEnd::Completed(Box::new(CompletedTask {
            task: self.task,
            was_completed,
            is_other_result: self.is_other_result,
            had_expired: self.had_expired,
            unblocked: self.unblocked,
            files: self.files.map(Released::from),
        }))
    }

    fn released(self) -> TaskEnd {
        TaskEnd::Released(Box::new(ReleasedTask {
            task: self.task,
            kept: self.kept,
            files: self.files.map(Released::from),
        }))
    }
}

/// Arguments of `complete_task.lua` beside the fields of [`ReleasedFiles`].
#[derive(Serialize)]
struct CompleteTaskArgs<'a> {
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<i64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    result: &'a str,
}

/// Completes a task that the caller has claimed, and releases its files; `token`: of that claim.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn complete_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    token: Option<i64>,
    result: &str,
    files: &ReleasedFiles<'_>,
) -> TeamOutcome<TaskEnd> {
    let completion = CompleteTaskArgs {
        task_id: id.as_str(),
        token,
        result,
    };
    run_release(store, &COMPLETE_TASK, terms, &completion, files, |reply| {
        match reply.outcome.as_str() {
            "COMPLETED" => reply.object().map(|ended: EndAnswer| ended.completed(false)),
            "COMPLETED_BEFORE" => reply.object().map(|ended: EndAnswer| ended.completed(true)),
            _ => unknown(reply),
        }
    })
    .await
}

/// A task that was released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasedTask {
    /// The task.
    pub task: FullTask,
    /// Its files whose locks stay the caller's.
    pub kept: Vec<String>,
    /// The others, which were released.
    pub files: Option<Released>,
}

/// Arguments of `release_task.lua` beside the fields of [`ReleasedFiles`].
#[derive(Serialize)]
struct ReleaseTaskArgs<'a> {
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<i64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'a str,
}

/// Gives a claimed task back, with a note or an empty one; of its files, those whose work the branch has.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn release_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    token: Option<i64>,
    note: &str,
    files: &ReleasedFiles<'_>,
) -> TeamOutcome<TaskEnd> {
    let back = ReleaseTaskArgs {
        task_id: id.as_str(),
        token,
        note,
    };
    run_release(store, &RELEASE_TASK, terms, &back, files, |reply| {
        match reply.outcome.as_str() {
            "RELEASED" => reply.object().map(EndAnswer::released),
            _ => unknown(reply),
        }
    })
    .await
}

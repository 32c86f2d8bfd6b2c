//! Tasks are claimed, completed and given back.

use serde::Serialize;

use super::files::{FilesOfClaim, FilesOfRelease, run_claim, run_release};
use super::record::WholeTask;
use super::scripts::{CLAIM_TASK, COMPLETE_TASK, NEXT_TASK, RELEASE_TASK};
use super::write::Unblocked;
use coord_protocol::tasks::PassedReason;

use crate::domain::team::TaskId;
use crate::state::locks::{ClaimOutcome, ReleaseOutcome, Released, Survey};
use crate::state::reply::Reply;
use crate::state::teams::{RequestKey, SentKey, TeamOutcome, TeamTerms, unknown};
use crate::store::{Store, StoreError};

/// The outcome of a claim of one task, or of the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskClaim {
    /// The caller has a task now.
    Claimed(Box<ClaimedTask>),
    /// No task is ready for the caller: an outcome of [`next_task`] alone.
    Nothing(Box<NothingReady>),
    /// The files of a task are in the way; nothing was changed.
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
    pub task: WholeTask,
    /// Whether the caller had it before.
    pub is_renewal: bool,
    /// What came before it in the queue, where it was the next one.
    pub passed: Vec<PassedOver>,
    /// What a claim of its files found, where they are claimed with it.
    pub files: Option<Survey>,
}

/// Reads the claim of files that was granted, if it is there.
fn read_files(reply: &mut Reply) -> Result<Option<Survey>, StoreError> {
    if !reply.has_more() {
        return Ok(None);
    }
    match reply.nested(ClaimOutcome::read)? {
        ClaimOutcome::Claimed(survey) => Ok(Some(survey)),
        _ => Err(reply.malformed("files that are not claimed")),
    }
}

/// What `claim_task.lua` reads beside the fields of [`FilesOfClaim`].
#[derive(Serialize)]
struct Claim<'a> {
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
    files: &FilesOfClaim<'_>,
) -> TeamOutcome<TaskClaim> {
    let claim = Claim {
        task_id: id.as_str(),
        seconds,
    };
    run_claim(store, &CLAIM_TASK, terms, seconds, &claim, files, |reply| {
        match reply.outcome.as_str() {
            outcome @ ("CLAIMED" | "RENEWED" | "CLAIMED_FILES" | "RENEWED_FILES") => {
                Ok(TaskClaim::Claimed(Box::new(ClaimedTask {
                    is_renewal: outcome.starts_with("RENEWED"),
                    task: reply.tuple(WholeTask::read)?,
                    passed: Vec::new(),
                    files: read_files(reply)?,
                })))
            }
            _ => unknown(reply),
        }
    })
    .await
}

/// A ready task that was not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
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

impl PassedOver {
    fn read(tuple: &mut Reply) -> Result<Self, StoreError> {
        Ok(PassedOver {
            id: tuple.text()?,
            reason: match tuple.text()?.as_str() {
                "RESERVED" => PassedReason::Reserved,
                "LOCKED" => PassedReason::Locked,
                "BRANCH" => PassedReason::Branch,
                "FILES_CLAIMED" => PassedReason::FilesClaimed,
                "INTENT" => PassedReason::Intent,
                "TOO_MUCH" => PassedReason::TooMuch,
                _ => return Err(tuple.malformed("an unknown reason")),
            },
            handle: tuple.optional_text()?,
            until: tuple.optional_number()?,
            user: tuple.optional_text()?,
            agent: tuple.optional_text()?,
            what: tuple.optional_text()?,
        })
    }
}

/// A claim that holds the caller up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldTask {
    /// The task.
    pub id: String,
    /// Handle of its owner.
    pub owner: String,
    /// When the claim lapses unless it is renewed, Unix milliseconds.
    pub expires: i64,
}

/// A task whose claims have lapsed too often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBack {
    /// The task.
    pub id: String,
    /// Handle of its creator, who may clear that, as the leader may.
    pub creator: String,
}

/// Why open tasks that are neither claimed nor in the queue cannot be claimed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obstacles {
    /// Up to five tasks that others wait for.
    pub blocking: Vec<String>,
    /// Up to five that are held back.
    pub held_back: Vec<HeldBack>,
    /// Number of those.
    pub held_back_count: u64,
    /// Handle of the leader.
    pub leader: String,
}

/// How many tasks of a team there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NothingReady {
    /// Number of tasks by their state.
    pub counts: TaskCounts,
    /// The next five claims to lapse.
    pub held: Vec<HeldTask>,
    /// What is in the queue, and is not for the caller now.
    pub passed: Vec<PassedOver>,
    /// What the rest waits for.
    pub obstacles: Obstacles,
}

/// What `next_task.lua` reads beside the fields of [`FilesOfClaim`].
#[derive(Serialize)]
struct Next<'a> {
    #[serde(flatten)]
    key: SentKey,
    seconds: u32,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    skipped: &'a [String],
}

/// Claims the first ready task whose files are free for `seconds`, with these. `skipped`: ids of tasks that intents do not let in.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn next_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    key: RequestKey<'_>,
    seconds: u32,
    skipped: &[String],
    files: &FilesOfClaim<'_>,
) -> TeamOutcome<TaskClaim> {
    let next = Next {
        key: key.sent(&NEXT_TASK),
        seconds,
        skipped,
    };
    run_claim(store, &NEXT_TASK, terms, seconds, &next, files, |reply| {
        match reply.outcome.as_str() {
            "CLAIMED" | "CLAIMED_FILES" => Ok(TaskClaim::Claimed(Box::new(ClaimedTask {
                task: reply.tuple(WholeTask::read)?,
                is_renewal: false,
                passed: reply.tuples(PassedOver::read)?,
                files: read_files(reply)?,
            }))),
            "NOTHING" => Ok(TaskClaim::Nothing(Box::new(NothingReady {
                counts: TaskCounts {
                    made: reply.number()?.unsigned_abs(),
                    open: reply.number()?.unsigned_abs(),
                    claimed: reply.number()?.unsigned_abs(),
                    ready: reply.number()?.unsigned_abs(),
                },
                held: reply.tuples(|tuple| {
                    Ok(HeldTask {
                        id: tuple.text()?,
                        owner: tuple.text()?,
                        expires: tuple.number()?,
                    })
                })?,
                passed: reply.tuples(PassedOver::read)?,
                obstacles: Obstacles {
                    blocking: reply.texts()?,
                    held_back: reply.tuples(|tuple| {
                        Ok(HeldBack {
                            id: tuple.text()?,
                            creator: tuple.text()?,
                        })
                    })?,
                    held_back_count: reply.number()?.unsigned_abs(),
                    leader: reply.text()?,
                },
            }))),
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
    /// The task was given back.
    Released(Box<ReleasedTask>),
    /// The files of the task are in the way; nothing was changed.
    Files(ReleaseOutcome),
}

/// A task that is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedTask {
    /// The task.
    pub task: WholeTask,
    /// Whether the caller had completed it before, so that nothing has changed.
    pub was_completed: bool,
    /// Whether it was completed before with another result, which it keeps.
    pub is_other_result: bool,
    /// Whether the claim had lapsed.
    pub had_expired: bool,
    /// What followed for its dependents.
    pub unblocked: Unblocked,
    /// The files that were given back with it.
    pub files: Option<Released>,
}

/// Reads the release of files that was made, if it is there.
fn read_released(reply: &mut Reply) -> Result<Option<Released>, StoreError> {
    if !reply.has_more() {
        return Ok(None);
    }
    match reply.nested(ReleaseOutcome::read)? {
        ReleaseOutcome::Released(released) => Ok(Some(*released)),
        _ => Err(reply.malformed("files that are not released")),
    }
}

/// What `complete_task.lua` reads beside the fields of [`FilesOfRelease`].
#[derive(Serialize)]
struct Completion<'a> {
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<i64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    result: &'a str,
}

/// Completes a task that the caller has claimed, and gives its files back; `token`: of that claim.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn complete_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    token: Option<i64>,
    result: &str,
    files: &FilesOfRelease<'_>,
) -> TeamOutcome<TaskEnd> {
    let completion = Completion {
        task_id: id.as_str(),
        token,
        result,
    };
    run_release(store, &COMPLETE_TASK, terms, &completion, files, |reply| {
        match reply.outcome.as_str() {
            "COMPLETED" => Ok(TaskEnd::Completed(Box::new(CompletedTask {
                task: reply.tuple(WholeTask::read)?,
                was_completed: false,
                is_other_result: false,
                had_expired: reply.flag()?,
                unblocked: Unblocked {
                    count: reply.number()?.unsigned_abs(),
                    not_told: reply.texts()?,
                },
                files: read_released(reply)?,
            }))),
            "COMPLETED_BEFORE" => Ok(TaskEnd::Completed(Box::new(CompletedTask {
                task: reply.tuple(WholeTask::read)?,
                was_completed: true,
                is_other_result: reply.flag()?,
                had_expired: false,
                unblocked: Unblocked {
                    count: 0,
                    not_told: Vec::new(),
                },
                files: None,
            }))),
            _ => unknown(reply),
        }
    })
    .await
}

/// A task that was given back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleasedTask {
    /// The task.
    pub task: WholeTask,
    /// Its files whose locks stay the caller's.
    pub kept: Vec<String>,
    /// The others, which were given back.
    pub files: Option<Released>,
}

/// What `release_task.lua` reads beside the fields of [`FilesOfRelease`].
#[derive(Serialize)]
struct GivingBack<'a> {
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
    files: &FilesOfRelease<'_>,
) -> TeamOutcome<TaskEnd> {
    let back = GivingBack {
        task_id: id.as_str(),
        token,
        note,
    };
    run_release(store, &RELEASE_TASK, terms, &back, files, |reply| {
        match reply.outcome.as_str() {
            "RELEASED" => Ok(TaskEnd::Released(Box::new(ReleasedTask {
                task: reply.tuple(WholeTask::read)?,
                kept: reply.texts()?,
                files: read_released(reply)?,
            }))),
            _ => unknown(reply),
        }
    })
    .await
}

//! Tasks are claimed, completed and released.

use serde::{Deserialize, Serialize};

use super::files::{ClaimedFiles, ReleasedFiles, run_claim, run_release};
use super::outcome::{ClaimedTask, CompletedTask, SkippedTask, TaskClaim, TaskEnd};
use super::record::FullTask;
use super::scripts::{CLAIM_TASK, COMPLETE_TASK, NEXT_TASK, RELEASE_TASK};
use crate::teams::{RequestKey, RequestKeyArgs, TeamOutcome, TeamTerms};
use coord_domain::team::TaskId;
use coord_state::locks::SurveyAnswer;
use coord_state::reply::Reply;
use coord_store::{Store, StoreError};

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

/// Arguments of `claim_task.lua` in addition to the fields of [`ClaimedFiles`].
#[derive(Serialize)]
struct ClaimTaskArgs<'a> {
    task_id: &'a str,
    seconds: u32,
}

/// Claims a task for `seconds`, with its files, or renews its claim.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the claim may have been made.
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
            _ => reply.unknown(),
        }
    })
    .await
}

/// Arguments of `next_task.lua` in addition to the fields of [`ClaimedFiles`].
#[derive(Serialize)]
struct NextTaskArgs<'a> {
    #[serde(flatten)]
    key: RequestKeyArgs,
    seconds: u32,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    skipped: &'a [String],
}

/// Claims, for `seconds`, the first ready task whose files are free, with these files. `skipped`: ids of tasks that intents refuse.
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
        key: key.args(&NEXT_TASK),
        seconds,
        skipped,
    };
    run_claim(store, &NEXT_TASK, terms, seconds, &next, files, |reply| {
        match reply.outcome.as_str() {
            "CLAIMED" | "CLAIMED_FILES" => GrantedClaim::read(reply, false),
            "NOTHING" => Ok(TaskClaim::Nothing(reply.object()?)),
            _ => reply.unknown(),
        }
    })
    .await
}

/// Arguments of `complete_task.lua` in addition to the fields of [`ReleasedFiles`].
#[derive(Serialize)]
struct CompleteTaskArgs<'a> {
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<i64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    result: &'a str,
}

/// Completes a task that the caller has claimed, and releases its files. `token`, if given, must be that of the claim.
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
        let was_completed = match reply.outcome.as_str() {
            "COMPLETED" => false,
            "COMPLETED_BEFORE" => true,
            _ => return reply.unknown(),
        };
        let task: CompletedTask = reply.object()?;
        Ok(TaskEnd::Completed(Box::new(CompletedTask { was_completed, ..task })))
    })
    .await
}

/// Arguments of `release_task.lua` in addition to the fields of [`ReleasedFiles`].
#[derive(Serialize)]
struct ReleaseTaskArgs<'a> {
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<i64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    note: &'a str,
}

/// Releases a claimed task, with a note, which may be empty, and those of its files whose work the branch has.
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
    let release = ReleaseTaskArgs {
        task_id: id.as_str(),
        token,
        note,
    };
    run_release(store, &RELEASE_TASK, terms, &release, files, |reply| {
        reply.object_of("RELEASED").map(TaskEnd::Released)
    })
    .await
}

//! Tasks are claimed, completed and given back.

use super::record::WholeTask;
use super::scripts::{CLAIM_TASK, COMPLETE_TASK, NEXT_TASK, RELEASE_TASK};
use super::write::Unblocked;
use crate::domain::team::TaskId;
use crate::state::admission::Kind;
use crate::state::reply::arguments;
use crate::state::teams::{RequestKey, TeamOutcome, TeamTerms, run, unknown};
use crate::store::Store;

/// A task that the caller has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedTask {
    /// The task.
    pub task: WholeTask,
    /// Whether the caller had it before.
    pub is_renewal: bool,
}

/// Claims a task for `seconds`, or renews its claim.
///
/// # Errors
/// When the store gives no reply, or none that is understood. Even then the claim may have been made.
pub async fn claim_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    seconds: u32,
) -> TeamOutcome<ClaimedTask> {
    let args = arguments([id.as_str(), &seconds.to_string()]);
    run(store, &CLAIM_TASK, terms, Kind::Read, args, |mut reply| {
        match reply.outcome.as_str() {
            outcome @ ("CLAIMED" | "RENEWED") => Ok(ClaimedTask {
                is_renewal: outcome == "RENEWED",
                task: reply.tuple(WholeTask::read)?,
            }),
            _ => unknown(&reply),
        }
    })
    .await
}

/// A ready task that was not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// Its id.
    pub id: String,
    /// Why: `RESERVED` for another member.
    pub reason: String,
    /// That member's handle.
    pub handle: String,
    /// Until when, Unix milliseconds.
    pub until: i64,
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

/// What `next` gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextTask {
    /// A task, which the caller has now.
    Claimed {
        /// The task.
        task: Box<WholeTask>,
        /// What came before it in the queue.
        passed: Vec<PassedOver>,
    },
    /// Nothing may be claimed.
    Nothing {
        /// Number of tasks that are not completed; 0: all is done.
        open: u64,
        /// Number of claimed tasks.
        claimed: u64,
        /// The next five claims to lapse.
        held: Vec<HeldTask>,
        /// What is in the queue, and kept for others.
        passed: Vec<PassedOver>,
    },
}

/// Claims the first ready task for `seconds`.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn next_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    key: RequestKey<'_>,
    seconds: u32,
) -> TeamOutcome<NextTask> {
    let mut args = Vec::from(key.arguments(&NEXT_TASK));
    args.extend(arguments([&seconds.to_string()]));
    run(store, &NEXT_TASK, terms, Kind::Read, args, |mut reply| {
        let read_passed = |reply: &mut crate::state::reply::Reply| {
            reply.tuples(|tuple| {
                Ok(PassedOver {
                    id: tuple.text()?,
                    reason: tuple.text()?,
                    handle: tuple.text()?,
                    until: tuple.number()?,
                })
            })
        };
        match reply.outcome.as_str() {
            "CLAIMED" => Ok(NextTask::Claimed {
                task: Box::new(reply.tuple(WholeTask::read)?),
                passed: read_passed(&mut reply)?,
            }),
            "NOTHING" => Ok(NextTask::Nothing {
                open: reply.number()?.unsigned_abs(),
                claimed: reply.number()?.unsigned_abs(),
                held: reply.tuples(|tuple| {
                    Ok(HeldTask {
                        id: tuple.text()?,
                        owner: tuple.text()?,
                        expires: tuple.number()?,
                    })
                })?,
                passed: read_passed(&mut reply)?,
            }),
            _ => unknown(&reply),
        }
    })
    .await
}

/// A task that is completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedTask {
    /// The task.
    pub task: WholeTask,
    /// Whether it was completed before, so that nothing has changed.
    pub was_completed: bool,
    /// Whether the claim had lapsed.
    pub had_expired: bool,
    /// What followed for its dependents.
    pub unblocked: Unblocked,
}

/// Completes a task that the caller has claimed; `token`: of that claim.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn complete_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    token: Option<i64>,
    result: &str,
) -> TeamOutcome<CompletedTask> {
    let args = arguments([id.as_str(), &token_text(token), result]);
    run(
        store,
        &COMPLETE_TASK,
        terms,
        Kind::Release,
        args,
        |mut reply| match reply.outcome.as_str() {
            "COMPLETED" => Ok(CompletedTask {
                task: reply.tuple(WholeTask::read)?,
                was_completed: false,
                had_expired: reply.flag()?,
                unblocked: Unblocked {
                    count: reply.number()?.unsigned_abs(),
                    not_told: reply.texts()?,
                },
            }),
            "COMPLETED_BEFORE" => Ok(CompletedTask {
                task: reply.tuple(WholeTask::read)?,
                was_completed: true,
                had_expired: false,
                unblocked: Unblocked {
                    count: 0,
                    not_told: Vec::new(),
                },
            }),
            _ => unknown(&reply),
        },
    )
    .await
}

/// Gives a claimed task back, with a note or an empty one.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn release_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    token: Option<i64>,
    note: &str,
) -> TeamOutcome<WholeTask> {
    let args = arguments([id.as_str(), &token_text(token), note]);
    run(
        store,
        &RELEASE_TASK,
        terms,
        Kind::Release,
        args,
        |mut reply| match reply.outcome.as_str() {
            "RELEASED" => reply.tuple(WholeTask::read),
            _ => unknown(&reply),
        },
    )
    .await
}

fn token_text(token: Option<i64>) -> String {
    token.map(|token| token.to_string()).unwrap_or_default()
}

//! Tasks are claimed, completed and given back.

use std::time::Duration;

use coord_protocol::Action;
use coord_protocol::Event;
use coord_protocol::bounds::LEASE_SECONDS;
use coord_protocol::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, HeldTask, NextTaskRequest, PassedTask, ReleaseTaskRequest, TaskResponse,
};
use coord_protocol::teams::TeamCaller;

use super::caller::{Asked, TeamAgent, team_of};
use super::calls::{ClaimTask, CompleteTask, NextReady, ReleaseTask, run};
use super::tasks::{answer, of_task};
use super::texts::{content, long_text, request_key, seconds, task_id};
use super::wait::{Waiting, is_of, wait_seconds};
use crate::admission::Right;
use crate::app::App;
use crate::domain::instant;
use crate::error::ApiError;
use crate::state::tasks::{NextTask, PassedOver, WholeTask};
use crate::state::teams::RequestKey;

fn agent_of(caller: &TeamCaller, asked: Asked<'_>) -> Result<TeamAgent, ApiError> {
    TeamAgent::parse(&caller.repo_url, caller.agent_id.as_deref(), asked)
}

/// Claims the task `id`, or renews the caller's claim.
///
/// # Errors
/// When a field is not valid, the caller is denied or may not push, the rules refuse it, or the store does not respond.
pub async fn claim_task(
    app: &App,
    id: &str,
    sent: &ClaimTaskRequest,
    asked: Asked<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = agent_of(&sent.caller, asked)?;
    let id = &task_id("id", id)?;
    let seconds = seconds(
        "lease_seconds",
        sent.lease_seconds,
        LEASE_SECONDS,
        app.teams.lease_seconds,
    )?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = &team_of(app, &agent, &admission, sent.caller.team.as_deref()).await?;
    let claimed = run(&mut admission, &ClaimTask { team, id, seconds }).await?;
    Ok(of_claim(claimed.task, claimed.is_renewal))
}

fn of_claim(whole: WholeTask, is_renewal: bool) -> TaskResponse {
    let done = if is_renewal { "is still" } else { "is" };
    let mut response = of_task(whole, |task| match &task.lease.expires {
        Some(expires) => format!("Task {} {done} yours until {expires}", task.id),
        None => format!("Task {} {done} yours", task.id),
    });
    if let Some(task) = &response.task {
        response.unmet.clone_from(&task.dependencies);
    }
    response
}

/// Claims the first task that is ready, and waits for one if the request says so.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn next_task(app: &App, sent: &NextTaskRequest, asked: Asked<'_>) -> Result<TaskResponse, ApiError> {
    let agent = agent_of(&sent.caller, asked)?;
    let lease = seconds(
        "lease_seconds",
        sent.lease_seconds,
        LEASE_SECONDS,
        app.teams.lease_seconds,
    )?;
    let wait = wait_seconds(app, sent.wait)?;
    let content = content(sent);
    let key = RequestKey {
        key: request_key(sent.request_key.as_deref())?,
        content: &content,
    };
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = &team_of(app, &agent, &admission, sent.caller.team.as_deref()).await?;
    let call = NextReady {
        team,
        key,
        seconds: lease,
    };
    let mut waiting = Waiting::begin(app, &agent.repo, &admission.holder().user_id, wait).await?;
    loop {
        match run(&mut admission, &call).await? {
            NextTask::Claimed { task, passed } => {
                let mut response = of_claim(*task, false);
                response.passed_over = passed.into_iter().map(passed_task).collect();
                return Ok(response);
            }
            NextTask::Nothing {
                open,
                claimed,
                held,
                passed,
            } => {
                let may_be_ready = |event: &Event| {
                    is_of(event, team)
                        && matches!(
                            event,
                            Event::TaskCreated(_)
                                | Event::TaskUnblocked(_)
                                | Event::TaskReleased(_)
                                | Event::TaskLapsed(_)
                                | Event::TaskCompleted(_)
                                | Event::ShutdownChanged(_)
                        )
                };
                // No event tells that a claim has lapsed before somebody looks.
                let first_lapse = held.first().map(|held| lapse_in(held.expires));
                if open > 0 && waiting.until(may_be_ready, first_lapse).await {
                    continue;
                }
                let mut response = answer(None, Action::Wait, nothing(open, claimed, passed.len()));
                if open == 0 {
                    response = answer(None, Action::Proceed, "All tasks of the team are completed");
                }
                response.held = held
                    .into_iter()
                    .map(|held| HeldTask {
                        id: held.id,
                        owner: held.owner,
                        expires: instant(held.expires),
                    })
                    .collect();
                response.passed_over = passed.into_iter().map(passed_task).collect();
                return Ok(response);
            }
        }
    }
}

/// How long until a claim lapses, by this process's clock, which runs with the store's or near it.
fn lapse_in(expires: i64) -> Duration {
    let left = (expires - chrono::Utc::now().timestamp_millis()).clamp(0, 60_000);
    Duration::from_millis(left.unsigned_abs()) + Duration::from_secs(1)
}

fn nothing(open: u64, claimed: u64, passed: usize) -> String {
    let reserved = match passed {
        0 => String::new(),
        passed => format!(", {passed} are kept for others"),
    };
    format!("None of {open} open tasks is ready: {claimed} are claimed{reserved}, and the others wait for these")
}

fn passed_task(passed: PassedOver) -> PassedTask {
    PassedTask {
        id: passed.id,
        reason: passed.reason,
        handle: passed.handle,
        until: instant(passed.until),
    }
}

/// Completes the task `id`, which the caller has.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn complete_task(
    app: &App,
    id: &str,
    sent: &CompleteTaskRequest,
    asked: Asked<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = agent_of(&sent.caller, asked)?;
    let id = &task_id("id", id)?;
    let result = long_text("result", sent.result.as_deref())?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = &team_of(app, &agent, &admission, sent.caller.team.as_deref()).await?;
    let call = CompleteTask {
        team,
        id,
        token: sent.token,
        result,
    };
    let completed = run(&mut admission, &call).await?;
    let (count, was) = (completed.unblocked.count, completed.was_completed);
    let mut response = of_task(completed.task, |task| match (was, count) {
        (true, _) => format!("Task {} was completed before", task.id),
        (false, 0) => format!("Task {} is completed", task.id),
        (false, 1) => format!(
            "Task {} is completed, and the dependencies of another one are met",
            task.id
        ),
        (false, count) => format!(
            "Task {} is completed, and the dependencies of {count} others are met",
            task.id
        ),
    });
    response.dependency_results.clear();
    if completed.had_expired {
        let warning = "LEASE_EXPIRED: the claim had lapsed, and nobody else had taken the task";
        response.warnings.push(warning.to_owned());
    }
    response.unblocked = count;
    response.not_told = completed.unblocked.not_told;
    Ok(response)
}

/// Gives the task `id` back.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn release_task(
    app: &App,
    id: &str,
    sent: &ReleaseTaskRequest,
    asked: Asked<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = agent_of(&sent.caller, asked)?;
    let id = &task_id("id", id)?;
    let note = long_text("note", sent.note.as_deref())?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = &team_of(app, &agent, &admission, sent.caller.team.as_deref()).await?;
    let call = ReleaseTask {
        team,
        id,
        token: sent.token,
        note,
    };
    let whole = run(&mut admission, &call).await?;
    let mut response = of_task(whole, |task| {
        format!("Task {} is given back; anybody may claim it", task.id)
    });
    response.dependency_results.clear();
    Ok(response)
}

//! Tasks are claimed, completed and given back.

use std::time::Duration;

use coord_protocol::Action;
use coord_protocol::Event;
use coord_protocol::bounds::LEASE_SECONDS;
use coord_protocol::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, HeldTask, NextTaskRequest, PassedReason, PassedTask, ReleaseTaskRequest,
    TaskResponse,
};
use coord_protocol::teams::TeamCaller;

use super::caller::{Asked, TeamAgent};
use super::calls::run;
use super::chosen::ChosenTeam;
use super::files::{ClaimCall, Claimed, End, Ended, FilesAsked, What, add_claimed, add_released, end, refused_claim};
use super::is_of;
use super::no_task::why_none;
use super::tasks::{answer, of_task};
use super::texts::{content, long_text, request_key, task_id};
use crate::app::App;
use crate::domain::instant;
use crate::error::ApiError;
use crate::operations::fields::seconds;
use crate::operations::sentences::named;
use crate::operations::tool_use::ToolUse;
use crate::operations::wait::{Urgency, Waiting, wait_seconds};
use crate::state::locks::ClaimOutcome;
use crate::state::tasks::{NextTask, PassedOver, WholeTask, WithFiles};
use crate::state::teams::RequestKey;

fn agent_of(caller: &TeamCaller, asked: Asked<'_>) -> Result<TeamAgent, ApiError> {
    TeamAgent::parse(&caller.repo_url, caller.agent_id.as_deref(), asked)
}

/// Claims the task `id` with its files, or renews the caller's claim.
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
    let files = FilesAsked::of_claim(&agent, &sent.work)?;
    let tool_use = ToolUse::parse(None, None)?;
    let (mut admission, head) = files.begin(app, &agent, true).await?;
    let team = &ChosenTeam::of(app, &agent.repo, &admission, sent.caller.team.as_deref()).await?;
    let said = files.said(app, &admission, &tool_use);
    let call = ClaimCall {
        team,
        seconds,
        files: &files,
        head: &head,
        said: said.as_ref(),
        what: What::Task(id),
    };
    let (claimed, waits) = match run(&mut admission, &call).await {
        Ok(claimed) => claimed,
        Err(error) => return Err(head.explain(error)),
    };
    match claimed {
        WithFiles::Done(Claimed::Task(claimed)) => {
            let mut response = of_claim(claimed.task, waits, claimed.is_renewal);
            add_claimed(&mut response, app, &admission, &files, said, claimed.files);
            Ok(response)
        }
        WithFiles::NotDone { because, .. } => Err(refused_claim(
            app,
            &admission,
            &files,
            said,
            &because,
            id.as_str(),
            waits,
        )),
        WithFiles::Done(Claimed::Next(_)) => Err(ApiError::Internal),
    }
}

fn of_claim(whole: WholeTask, waits: coord_protocol::Waiting, is_renewal: bool) -> TaskResponse {
    let done = if is_renewal { "is still" } else { "is" };
    let mut response = of_task(whole, waits, |task| match &task.lease.expires {
        Some(expires) => format!("Task {} {done} yours until {expires}", task.id),
        None => format!("Task {} {done} yours", task.id),
    });
    if let Some(task) = &response.task {
        response.unmet.clone_from(&task.dependencies);
    }
    response
}

/// Most tasks of one request that intents do not let in, and after which it ends.
const MOST_SKIPPED: usize = 8;

/// Claims the first task that is ready and whose files are free, and waits for one if the request says so.
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
    let wait = wait_seconds(app, "wait", sent.wait)?;
    let content = content(sent);
    let key = RequestKey {
        key: request_key(sent.request_key.as_deref())?,
        content: &content,
    };
    let files = FilesAsked::of_claim(&agent, &sent.work)?;
    let tool_use = ToolUse::parse(None, None)?;
    let (mut admission, head) = files.begin(app, &agent, true).await?;
    let team = &ChosenTeam::of(app, &agent.repo, &admission, sent.caller.team.as_deref()).await?;
    let mut waiting = Waiting::begin(&app.events, &agent.repo, &admission.holder().user_id, wait).await?;
    let mut skipped = Vec::new();
    loop {
        let said = files.said(app, &admission, &tool_use);
        let call = ClaimCall {
            team,
            seconds: lease,
            files: &files,
            head: &head,
            said: said.as_ref(),
            what: What::Next { key, skipped: &skipped },
        };
        let (next, waits) = match run(&mut admission, &call).await {
            Ok(next) => next,
            Err(error) => return Err(head.explain(error)),
        };
        match next {
            WithFiles::Done(Claimed::Next(NextTask::Claimed {
                task,
                passed,
                files: survey,
            })) => {
                let mut response = of_claim(*task, waits, false);
                let survey = survey.map(|survey| *survey);
                add_claimed(&mut response, app, &admission, &files, said, survey);
                response.passed_over = passed.into_iter().map(passed_task).collect();
                return Ok(response);
            }
            WithFiles::Done(Claimed::Next(NextTask::Nothing {
                counts,
                held,
                passed,
                obstacles,
            })) => {
                let are_locked = passed.iter().any(|task| task.reason == PassedReason::Locked);
                let may_be_ready = |event: &Event| match event {
                    Event::LockReleased(_) | Event::LockExpired(_) => are_locked,
                    Event::TaskCreated(_)
                    | Event::TaskUnblocked(_)
                    | Event::TaskReleased(_)
                    | Event::TaskLapsed(_)
                    | Event::TaskCompleted(_)
                    // Lapses that are cleared, a dependency or a reservation that is taken away, another branch.
                    | Event::TaskUpdated(_)
                    | Event::ShutdownChanged(_) => is_of(event, team.name()),
                    _ => false,
                };
                // No event tells that a claim has lapsed, or a lock or a reservation ended, before somebody looks.
                let ends = passed
                    .iter()
                    .filter_map(|task| task.until)
                    .filter_map(|until| i64::try_from(until).ok());
                let first_end = ends.chain(held.first().map(|held| held.expires)).min();
                let matters = |event: &Event| may_be_ready(event).then_some(Urgency::Soon);
                if waiting.until(matters, first_end.map(lapse_in)).await {
                    admission.reread_head().await?;
                    continue;
                }
                let mut response = answer(None, waits, Action::Wait, why_none(counts, &passed, &obstacles));
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
            WithFiles::NotDone {
                id,
                because: ClaimOutcome::Refused(_),
            } if skipped.len() < MOST_SKIPPED => skipped.push(id),
            WithFiles::NotDone { id, because } => {
                return Err(refused_claim(app, &admission, &files, said, &because, &id, waits));
            }
            WithFiles::Done(Claimed::Task(_)) => return Err(ApiError::Internal),
        }
    }
}

/// How long until a claim lapses, by this process's clock, which runs with the store's or near it.
fn lapse_in(expires: i64) -> Duration {
    let left = (expires - chrono::Utc::now().timestamp_millis()).clamp(0, 60_000);
    Duration::from_millis(left.unsigned_abs()) + Duration::from_secs(1)
}

fn passed_task(passed: PassedOver) -> PassedTask {
    let (file, branch) = match passed.reason {
        PassedReason::Branch => (None, passed.what),
        _ => (passed.what, None),
    };
    PassedTask {
        id: passed.id,
        reason: passed.reason,
        handle: passed.handle,
        until: passed.until.and_then(|until| i64::try_from(until).ok()).map(instant),
        user: passed.user,
        agent_id: passed.agent,
        file,
        branch,
    }
}

/// Completes the task `id`, which the caller has, and gives its files back.
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
    let files = FilesAsked::of_release(&agent, &sent.work, sent.new_repo_head.as_deref(), None)?;
    let (mut admission, head) = files.begin(app, &agent, false).await?;
    let team = &ChosenTeam::of(app, &agent.repo, &admission, sent.caller.team.as_deref()).await?;
    let call = End {
        team,
        id,
        token: sent.token,
        text: result,
        is_completed: true,
    };
    let (completed, waits) = match end(app, &mut admission, &call, &files, &head).await {
        Ok((Ended::Completed(completed), waits)) => (completed, waits),
        Ok((Ended::Released(_), _)) => return Err(ApiError::Internal),
        Err(error) => return Err(head.explain(error)),
    };
    let is_other_result = completed.is_other_result;
    let (count, was) = (completed.unblocked.count, completed.was_completed);
    let mut response = of_task(completed.task.without_dependencies(), waits, |task| {
        match (was, count) {
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
        }
    });
    if completed.had_expired {
        let warning = "LEASE_EXPIRED: the claim had lapsed, and nobody else had taken the task";
        response.warnings.push(warning.to_owned());
    }
    if is_other_result {
        let warning =
            "RESULT_KEPT: the task keeps the result that it was completed with; send others a message about this one";
        response.warnings.push(warning.to_owned());
    }
    add_released(&mut response, app, &admission, &files, completed.files).await?;
    response.unblocked = count;
    response.not_told = completed.unblocked.not_told;
    Ok(response)
}

/// Gives the task `id` back, and of its files those whose work the branch has.
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
    let mut files = FilesAsked::of_release(&agent, &sent.work, sent.new_repo_head.as_deref(), sent.abandon)?;
    files.keep_without_new_head();
    let (mut admission, head) = files.begin(app, &agent, false).await?;
    let team = &ChosenTeam::of(app, &agent.repo, &admission, sent.caller.team.as_deref()).await?;
    let call = End {
        team,
        id,
        token: sent.token,
        text: note,
        is_completed: false,
    };
    let (released, waits) = match end(app, &mut admission, &call, &files, &head).await {
        Ok((Ended::Released(released), waits)) => (released, waits),
        Ok((Ended::Completed(_), _)) => return Err(ApiError::Internal),
        Err(error) => return Err(head.explain(error)),
    };
    let mut response = of_task(released.task.without_dependencies(), waits, |task| {
        format!("Task {} is given back; anybody may claim it", task.id)
    });
    add_released(&mut response, app, &admission, &files, released.files).await?;
    if !released.kept.is_empty() {
        response.warnings.push(format!(
            "LOCKS_KEPT: You still hold {} for writing, because Coord does not know the work to be on the branch: push, and release \
             the files (status OPEN), or abandon them.",
            named(&released.kept)
        ));
    }
    response.kept_files = released.kept;
    Ok(response)
}

//! Claims, completes and releases tasks.

use std::time::Duration;

use coord_protocol::bounds::LEASE_SECONDS;
use coord_protocol::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, HeldTask, NextTaskRequest, PassedReason, PassedTask, ReleaseTaskRequest,
    TaskResponse,
};
use coord_protocol::{Action, Event, Waiting};

use super::caller::{CallerContext, TeamAgent};
use super::calls::run;
use super::files::{ClaimCall, ClaimTarget, EndCall, FileTerms, add_claimed, add_released, end, refused_claim};
use super::messages::is_in_team;
use super::task_unavailable::explain_no_task;
use super::tasks::{empty_response, task_response};
use super::team_selection::SelectedTeam;
use super::texts::{content, long_text, request_key, task_id};
use crate::registered::Teams;
use coord_domain::format_instant;
use coord_server::admission::Admission;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::claim_rules::ClaimRules;
use coord_server::operations::fields::seconds;
use coord_server::operations::parse_tool_use;
use coord_server::operations::sentences::list_paths;
use coord_server::operations::wait::{LongPoll, Urgency, wait_seconds};
use coord_state::locks::ClaimOutcome;
use coord_teams_state::tasks::{ClaimedTask, NothingReady, SkippedTask, TaskClaim, TaskEnd};

fn lease_seconds(app: &App, requested: Option<u32>) -> Result<u32, ApiError> {
    let default = Teams::of(app).config.lease_seconds;
    seconds("lease_seconds", requested, LEASE_SECONDS, default)
}

/// Claims the task `id` with its files, or renews the caller's claim.
///
/// # Errors
/// When a field is not valid, the caller is denied or may not push, the rules refuse it, or the store does not respond.
pub async fn claim_task(
    app: &App,
    id: &str,
    request: &ClaimTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::of(&request.caller, context)?;
    let id = &task_id("id", id)?;
    let seconds = lease_seconds(app, request.lease_seconds)?;
    let files = FileTerms::parse(&agent, &request.work, None, None)?;
    let tool_use = parse_tool_use(app, None, None)?;
    let (mut admission, head) = files.begin(app, &agent, true).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
    let mut call = ClaimCall {
        team,
        seconds,
        files: &files,
        head: &head,
        rules: files.rules(app, &admission, &tool_use),
        target: ClaimTarget::Task(id),
        skipped: Vec::new(),
    };
    let claim = run(&mut admission, &mut call).await;
    let (claim, waiting) = claim.map_err(|error| head.explain(error))?;
    match claim {
        TaskClaim::Claimed(claimed) => Ok(claim_response(app, &admission, &files, call.rules, *claimed, waiting)),
        TaskClaim::Files { because, .. } => {
            let id = id.as_str();
            Err(refused_claim(
                app, &admission, &files, call.rules, &because, id, waiting,
            ))
        }
        TaskClaim::Nothing(_) => Err(ApiError::Internal),
    }
}

fn claim_response(
    app: &App,
    admission: &Admission<'_>,
    files: &FileTerms,
    rules: Option<ClaimRules<'_>>,
    claimed: ClaimedTask,
    waiting: Waiting,
) -> TaskResponse {
    let verb = if claimed.is_renewal { "is still" } else { "is" };
    let mut response = task_response(claimed.task, waiting, |task| match &task.lease.expires {
        Some(expires) => format!("Task {} {verb} yours until {expires}", task.id),
        None => format!("Task {} {verb} yours", task.id),
    });
    if let Some(task) = &response.task {
        response.unmet.clone_from(&task.dependencies);
    }
    add_claimed(&mut response, app, admission, files, rules, claimed.files);
    response.passed_over = claimed.passed.into_iter().map(passed_task).collect();
    response
}

/// The most tasks that intents may refuse before a request ends.
const MAX_SKIPPED: usize = 8;

/// Claims the first task that is ready and whose files are free. Waits for one if the request says so.
///
/// # Errors
/// Those of [`claim_task`].
pub async fn next_task(
    app: &App,
    request: &NextTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::of(&request.caller, context)?;
    let seconds = lease_seconds(app, request.lease_seconds)?;
    let wait = wait_seconds(app, "wait", request.wait)?;
    let content = content(request);
    let key = request_key(request.request_key.as_deref(), &content)?;
    let files = FileTerms::parse(&agent, &request.work, None, None)?;
    let tool_use = parse_tool_use(app, None, None)?;
    let (mut admission, head) = files.begin(app, &agent, true).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
    let mut long_poll = LongPoll::begin(&app.events, &agent.repo, &admission.holder().user_id, wait).await?;
    let mut call = ClaimCall {
        team,
        seconds,
        files: &files,
        head: &head,
        rules: None,
        target: ClaimTarget::Next(key),
        skipped: Vec::new(),
    };
    loop {
        call.rules = files.rules(app, &admission, &tool_use);
        let claim = run(&mut admission, &mut call).await;
        let (claim, waiting) = claim.map_err(|error| head.explain(error))?;
        match claim {
            TaskClaim::Claimed(claimed) => {
                return Ok(claim_response(app, &admission, &files, call.rules, *claimed, waiting));
            }
            TaskClaim::Nothing(nothing) => {
                let are_locked = nothing.passed.iter().any(|task| task.reason == PassedReason::Locked);
                let urgency = |event: &Event| may_make_ready(event, &call.team, are_locked).then_some(Urgency::Soon);
                let or_after = first_end(&nothing).map(time_to_expiry);
                if long_poll.wait_for_event(urgency, or_after).await {
                    admission.reread_head().await?;
                    continue;
                }
                return Ok(nothing_response(*nothing, waiting));
            }
            TaskClaim::Files { id, because }
                if matches!(*because, ClaimOutcome::Refused(_)) && call.skipped.len() < MAX_SKIPPED =>
            {
                call.skipped.push(id);
            }
            TaskClaim::Files { id, because } => {
                return Err(refused_claim(
                    app, &admission, &files, call.rules, &because, &id, waiting,
                ));
            }
        }
    }
}

/// Whether a task of the team may be ready after `event`. `are_locked` if a ready task has locked files.
fn may_make_ready(event: &Event, team: &SelectedTeam, are_locked: bool) -> bool {
    match event {
        Event::LockReleased(_) | Event::LockExpired(_) => are_locked,
        Event::TaskCreated(_)
        | Event::TaskUnblocked(_)
        | Event::TaskReleased(_)
        | Event::TaskLapsed(_)
        | Event::TaskCompleted(_)
        // Cleared expiries, a removed dependency or reservation, a different branch.
        | Event::TaskUpdated(_)
        | Event::ShutdownChanged(_) => is_in_team(event, team.name()),
        _ => false,
    }
}

/// The first known end of a claim, a lock or a reservation. No event reports that one expired, until a call notices it.
fn first_end(nothing: &NothingReady) -> Option<i64> {
    let ends = nothing
        .passed
        .iter()
        .filter_map(|task| task.until)
        .filter_map(|until| i64::try_from(until).ok());
    ends.chain(nothing.held.first().map(|held| held.expires)).min()
}

fn nothing_response(nothing: NothingReady, waiting: Waiting) -> TaskResponse {
    let NothingReady {
        counts,
        held,
        passed,
        obstacles,
    } = nothing;
    let reason = explain_no_task(counts, &passed, &obstacles);
    let mut response = empty_response(None, waiting, Action::Wait, reason);
    response.held = held
        .into_iter()
        .map(|held| HeldTask {
            id: held.id,
            owner: held.owner,
            expires: format_instant(held.expires),
        })
        .collect();
    response.passed_over = passed.into_iter().map(passed_task).collect();
    response
}

/// Time until an expiry, at most a minute, and a second more. Uses this process's clock, which is close to the store's.
fn time_to_expiry(expires: i64) -> Duration {
    let remaining = (expires - chrono::Utc::now().timestamp_millis()).clamp(0, 60_000);
    Duration::from_millis(remaining.unsigned_abs()) + Duration::from_secs(1)
}

fn passed_task(passed: SkippedTask) -> PassedTask {
    let (file, branch) = match passed.reason {
        PassedReason::Branch => (None, passed.what),
        _ => (passed.what, None),
    };
    PassedTask {
        id: passed.id,
        reason: passed.reason,
        handle: passed.handle,
        until: passed
            .until
            .and_then(|until| i64::try_from(until).ok())
            .map(format_instant),
        user: passed.user,
        agent_id: passed.agent,
        file,
        branch,
    }
}

/// Completes the task `id` of the caller, and releases its files.
///
/// # Errors
/// Those of [`claim_task`].
pub async fn complete_task(
    app: &App,
    id: &str,
    request: &CompleteTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::of(&request.caller, context)?;
    let id = &task_id("id", id)?;
    let result = long_text("result", request.result.as_deref())?;
    let files = FileTerms::parse(&agent, &request.work, request.new_repo_head.as_deref(), None)?;
    let (mut admission, head) = files.begin(app, &agent, false).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
    let call = EndCall {
        team,
        id,
        token: request.token,
        text: result,
        is_completed: true,
        files: &files,
        head: &head,
        work: files.released_work(&admission),
    };
    let (completed, waiting) = match end(app, &mut admission, call).await {
        Ok((TaskEnd::Completed(completed), waiting)) => (completed, waiting),
        Ok(_) => return Err(ApiError::Internal),
        Err(error) => return Err(head.explain(error)),
    };
    let is_other_result = completed.is_other_result;
    let (count, was_completed) = (completed.unblocked.count, completed.was_completed);
    let mut response = task_response(completed.task.without_dependencies(), waiting, |task| {
        match (was_completed, count) {
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
        let warning = "LEASE_EXPIRED: the claim had expired, and no one else had claimed the task";
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

/// Releases the task `id`, and those of its files whose work is on the branch.
///
/// # Errors
/// Those of [`claim_task`].
pub async fn release_task(
    app: &App,
    id: &str,
    request: &ReleaseTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::of(&request.caller, context)?;
    let id = &task_id("id", id)?;
    let note = long_text("note", request.note.as_deref())?;
    let new_head = request.new_repo_head.as_deref();
    let mut files = FileTerms::parse(&agent, &request.work, new_head, request.abandon)?;
    files.keep_without_new_head();
    let (mut admission, head) = files.begin(app, &agent, false).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
    let call = EndCall {
        team,
        id,
        token: request.token,
        text: note,
        is_completed: false,
        files: &files,
        head: &head,
        work: files.released_work(&admission),
    };
    let (released, waiting) = match end(app, &mut admission, call).await {
        Ok((TaskEnd::Released(released), waiting)) => (released, waiting),
        Ok(_) => return Err(ApiError::Internal),
        Err(error) => return Err(head.explain(error)),
    };
    let mut response = task_response(released.task.without_dependencies(), waiting, |task| {
        format!("Released task {}; any member may claim it", task.id)
    });
    add_released(&mut response, app, &admission, &files, released.files).await?;
    if !released.kept.is_empty() {
        response.warnings.push(format!(
            "LOCKS_KEPT: You still hold {} for writing, because Coord does not know the work to be on the branch: push, and release \
             the files (status OPEN), or abandon them.",
            list_paths(&released.kept)
        ));
    }
    response.kept_files = released.kept;
    Ok(response)
}

//! Tasks are claimed, completed and released.

use std::time::Duration;

use coord_protocol::Action;
use coord_protocol::Event;
use coord_protocol::bounds::LEASE_SECONDS;
use coord_protocol::tasks::{
    ClaimTaskRequest, CompleteTaskRequest, HeldTask, NextTaskRequest, PassedReason, PassedTask, ReleaseTaskRequest,
    TaskResponse,
};
use coord_protocol::teams::TeamCaller;

use super::caller::{CallerContext, TeamAgent};
use super::calls::run;
use super::files::{ClaimCall, ClaimTarget, EndCall, FileTerms, add_claimed, add_released, end, refused_claim};
use super::messages::is_of;
use super::task_unavailable::why_none;
use super::tasks::{answer, of_task};
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
use coord_teams_state::teams::RequestKey;

fn agent_of(caller: &TeamCaller, context: CallerContext<'_>) -> Result<TeamAgent, ApiError> {
    TeamAgent::parse(&caller.repo_url, caller.agent_id.as_deref(), context)
}

/// Claims the task `id` with its files, or renews the caller's claim.
///
/// # Errors
/// When a field is not valid, the caller is denied or may not push, the rules refuse it, or the store does not respond.
pub async fn claim_task(
    app: &App,
    id: &str,
    sent: &ClaimTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = agent_of(&sent.caller, context)?;
    let id = &task_id("id", id)?;
    let seconds = seconds(
        "lease_seconds",
        sent.lease_seconds,
        LEASE_SECONDS,
        Teams::of(app).config.lease_seconds,
    )?;
    let files = FileTerms::of_claim(&agent, &sent.work)?;
    let tool_use = parse_tool_use(app, None, None)?;
    let (mut admission, head) = files.begin(app, &agent, true).await?;
    let team = SelectedTeam::of(&admission, sent.caller.team.as_deref()).await?;
    let mut call = ClaimCall {
        team,
        seconds,
        files: &files,
        head: &head,
        rules: files.rules(app, &admission, &tool_use),
        target: ClaimTarget::Task(id),
        skipped: Vec::new(),
    };
    let (claim, waits) = match run(&mut admission, &mut call).await {
        Ok(claim) => claim,
        Err(error) => {
            drop(call);
            return Err(head.explain(error));
        }
    };
    match claim {
        TaskClaim::Claimed(claimed) => Ok(of_claim(app, &admission, &files, call.rules, *claimed, waits)),
        TaskClaim::Files { because, .. } => {
            let id = id.as_str();
            Err(refused_claim(app, &admission, &files, call.rules, &because, id, waits))
        }
        TaskClaim::Nothing(_) => Err(ApiError::Internal),
    }
}

fn of_claim(
    app: &App,
    admission: &Admission<'_>,
    files: &FileTerms,
    rules: Option<ClaimRules<'_>>,
    claimed: ClaimedTask,
    waits: coord_protocol::Waiting,
) -> TaskResponse {
    let done = if claimed.is_renewal { "is still" } else { "is" };
    let mut response = of_task(claimed.task, waits, |task| match &task.lease.expires {
        Some(expires) => format!("Task {} {done} yours until {expires}", task.id),
        None => format!("Task {} {done} yours", task.id),
    });
    if let Some(task) = &response.task {
        response.unmet.clone_from(&task.dependencies);
    }
    add_claimed(&mut response, app, admission, files, rules, claimed.files);
    response.passed_over = claimed.passed.into_iter().map(passed_task).collect();
    response
}

/// Most tasks of one request that intents may refuse before it ends.
const MOST_SKIPPED: usize = 8;

/// Claims the first task that is ready and whose files are free, and waits for one if the request says so.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn next_task(
    app: &App,
    sent: &NextTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = agent_of(&sent.caller, context)?;
    let lease = seconds(
        "lease_seconds",
        sent.lease_seconds,
        LEASE_SECONDS,
        Teams::of(app).config.lease_seconds,
    )?;
    let wait = wait_seconds(app, "wait", sent.wait)?;
    let content = content(sent);
    let key = RequestKey {
        key: request_key(sent.request_key.as_deref())?,
        content: &content,
    };
    let files = FileTerms::of_claim(&agent, &sent.work)?;
    let tool_use = parse_tool_use(app, None, None)?;
    let (mut admission, head) = files.begin(app, &agent, true).await?;
    let team = SelectedTeam::of(&admission, sent.caller.team.as_deref()).await?;
    let mut waiting = LongPoll::begin(&app.events, &agent.repo, &admission.holder().user_id, wait).await?;
    let mut call = ClaimCall {
        team,
        seconds: lease,
        files: &files,
        head: &head,
        rules: None,
        target: ClaimTarget::Next(key),
        skipped: Vec::new(),
    };
    loop {
        call.rules = files.rules(app, &admission, &tool_use);
        let (claim, waits) = match run(&mut admission, &mut call).await {
            Ok(claim) => claim,
            Err(error) => {
                drop(call);
                return Err(head.explain(error));
            }
        };
        match claim {
            TaskClaim::Claimed(claimed) => {
                return Ok(of_claim(app, &admission, &files, call.rules, *claimed, waits));
            }
            TaskClaim::Nothing(nothing) => {
                let NothingReady {
                    counts,
                    held,
                    passed,
                    obstacles,
                } = *nothing;
                let are_locked = passed.iter().any(|task| task.reason == PassedReason::Locked);
                let may_be_ready = |event: &Event| match event {
                    Event::LockReleased(_) | Event::LockExpired(_) => are_locked,
                    Event::TaskCreated(_)
                    | Event::TaskUnblocked(_)
                    | Event::TaskReleased(_)
                    | Event::TaskLapsed(_)
                    | Event::TaskCompleted(_)
                    // Cleared expiries, a removed dependency or reservation, another branch.
                    | Event::TaskUpdated(_)
                    | Event::ShutdownChanged(_) => is_of(event, call.team.name()),
                    _ => false,
                };
                // No event reports that a claim expired, or a lock or reservation ended, until a call notices.
                let ends = passed
                    .iter()
                    .filter_map(|task| task.until)
                    .filter_map(|until| i64::try_from(until).ok());
                let first_end = ends.chain(held.first().map(|held| held.expires)).min();
                let matters = |event: &Event| may_be_ready(event).then_some(Urgency::Soon);
                if waiting.until(matters, first_end.map(time_to_expiry)).await {
                    admission.reread_head().await?;
                    continue;
                }
                let mut response = answer(None, waits, Action::Wait, why_none(counts, &passed, &obstacles));
                response.held = held
                    .into_iter()
                    .map(|held| HeldTask {
                        id: held.id,
                        owner: held.owner,
                        expires: format_instant(held.expires),
                    })
                    .collect();
                response.passed_over = passed.into_iter().map(passed_task).collect();
                return Ok(response);
            }
            TaskClaim::Files { id, because }
                if matches!(*because, ClaimOutcome::Refused(_)) && call.skipped.len() < MOST_SKIPPED =>
            {
                call.skipped.push(id);
            }
            TaskClaim::Files { id, because } => {
                return Err(refused_claim(app, &admission, &files, call.rules, &because, &id, waits));
            }
        }
    }
}

/// Time until a claim expires, by this process's clock, which runs with the store's or near it.
fn time_to_expiry(expires: i64) -> Duration {
    let left = (expires - chrono::Utc::now().timestamp_millis()).clamp(0, 60_000);
    Duration::from_millis(left.unsigned_abs()) + Duration::from_secs(1)
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

/// Completes the task `id`, which the caller has, and releases its files.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn complete_task(
    app: &App,
    id: &str,
    sent: &CompleteTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = agent_of(&sent.caller, context)?;
    let id = &task_id("id", id)?;
    let result = long_text("result", sent.result.as_deref())?;
    let files = FileTerms::of_release(&agent, &sent.work, sent.new_repo_head.as_deref(), None)?;
    let (mut admission, head) = files.begin(app, &agent, false).await?;
    let team = SelectedTeam::of(&admission, sent.caller.team.as_deref()).await?;
    let call = EndCall {
        team,
        id,
        token: sent.token,
        text: result,
        is_completed: true,
        files: &files,
        head: &head,
        work: files.released(&admission),
    };
    let (completed, waits) = match end(app, &mut admission, call).await {
        Ok((TaskEnd::Completed(completed), waits)) => (completed, waits),
        Ok(_) => return Err(ApiError::Internal),
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

/// Releases the task `id`, and of its files those whose work the branch has.
///
/// # Errors
/// As those of [`claim_task`].
pub async fn release_task(
    app: &App,
    id: &str,
    sent: &ReleaseTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = agent_of(&sent.caller, context)?;
    let id = &task_id("id", id)?;
    let note = long_text("note", sent.note.as_deref())?;
    let mut files = FileTerms::of_release(&agent, &sent.work, sent.new_repo_head.as_deref(), sent.abandon)?;
    files.keep_without_new_head();
    let (mut admission, head) = files.begin(app, &agent, false).await?;
    let team = SelectedTeam::of(&admission, sent.caller.team.as_deref()).await?;
    let call = EndCall {
        team,
        id,
        token: sent.token,
        text: note,
        is_completed: false,
        files: &files,
        head: &head,
        work: files.released(&admission),
    };
    let (released, waits) = match end(app, &mut admission, call).await {
        Ok((TaskEnd::Released(released), waits)) => (released, waits),
        Ok(_) => return Err(ApiError::Internal),
        Err(error) => return Err(head.explain(error)),
    };
    let mut response = of_task(released.task.without_dependencies(), waits, |task| {
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

//! Tasks are added, changed, listed and removed.

use std::collections::BTreeMap;

use coord_protocol::bounds::{NEW_DEPENDENCIES, NEW_TASKS, TITLE_CHARS};
use coord_protocol::tasks::{
    self as wire, EditTaskRequest, NewTasksRequest, NewTasksResponse, TaskResponse, TaskStatus, TasksResponse,
};
use coord_protocol::teams::TeamCaller;
use coord_protocol::{Action, Orchestration, Waiting};

use super::caller::{CallerContext, TeamAgent};
use super::calls::{
    AssignTask, CreateTasks, DeleteTask, ListTasks, MOST_PARTS, PRICE_OF_LIST, ShowTask, UpdateTask, run, run_part,
};
use super::task_input::{changes, parse_tasks};
use super::team_selection::SelectedTeam;
use super::texts::{content, number, request_key, task_id};
use super::view;
use crate::refusal::TeamRefused;
use coord_domain::FilePath;
use coord_domain::team::Handle;
use coord_server::admission::Right;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{in_field, require};
use coord_teams_state::tasks::{FullTask, Readiness, TaskFilter, TaskView, UpdateOutcome};
use coord_teams_state::teams::{RequestKey, TeamRefusal};

/// Tasks of a page, unless another number is asked for, and the most.
const USUAL_TASKS: usize = 100;
const MOST_TASKS: usize = 500;
/// Bytes of tasks after which no further part is read for an answer; a part returns 128 KiB at most, or one task.
const ENOUGH_BYTES: usize = 128 << 10;

/// A request for a list of tasks. Texts are as sent.
#[derive(Debug)]
pub struct TasksRequest<'a> {
    /// The caller and its team.
    pub caller: &'a TeamCaller,
    /// Those of this status.
    pub status: Option<TaskStatus>,
    /// Those of this owner.
    pub owner: Option<&'a str>,
    /// Only tasks that may be claimed, that wait for others, or that have no owner.
    pub readiness: Option<Readiness>,
    /// Those about this file.
    pub file: Option<&'a str>,
    /// Those with this text in the title.
    pub text: Option<&'a str>,
    /// Those after this number.
    pub after: u64,
    pub limit: Option<usize>,
    /// Whether with descriptions.
    pub has_descriptions: bool,
}

/// Lists tasks.
///
/// # Errors
/// When a field is not valid, the caller is denied, there is no such team, or the store does not respond.
pub async fn list_tasks(
    app: &App,
    request: TasksRequest<'_>,
    context: CallerContext<'_>,
) -> Result<TasksResponse, ApiError> {
    let TeamCaller {
        repo_url,
        team,
        agent_id,
    } = request.caller;
    let agent = TeamAgent::parse(repo_url, agent_id.as_deref(), context)?;
    let owner = request
        .owner
        .map(Handle::parse)
        .transpose()
        .map_err(in_field("owner"))?;
    let file = request
        .file
        .map(FilePath::parse)
        .transpose()
        .map_err(in_field("file"))?;
    let most = match request.limit {
        None => USUAL_TASKS,
        Some(limit) if (1..=MOST_TASKS).contains(&limit) => limit,
        Some(_) => {
            return Err(ApiError::InvalidField {
                field: "limit",
                problem: format!("must be 1 to {MOST_TASKS}"),
            });
        }
    };
    let text = request.text.unwrap_or_default();
    if text.chars().count() > TITLE_CHARS {
        return Err(ApiError::InvalidField {
            field: "text",
            problem: format!("has more than {TITLE_CHARS} characters"),
        });
    }
    let after = number("after", Some(request.after))?.unwrap_or_default();
    let mut admission = agent.begin(app, Right::Read).await?;
    let team = SelectedTeam::of(&admission, team.as_deref()).await?;
    let filter = TaskFilter {
        status: request.status,
        owner: owner.as_ref(),
        readiness: request.readiness,
        text,
        file: file.as_ref().map_or("", FilePath::as_str),
        has_descriptions: request.has_descriptions,
    };
    let mut part = ListTasks {
        team,
        after,
        most,
        filter: &filter,
    };
    let (mut page, mut waiting) = run_part(&mut admission, &mut part, PRICE_OF_LIST).await?;
    for _ in 1..MOST_PARTS {
        let described: usize = page.descriptions.values().map(String::len).sum();
        let bytes = described + page.tasks.iter().map(TaskView::bytes).sum::<usize>();
        let Some(after) = page.next.filter(|_| page.tasks.len() < most && bytes < ENOUGH_BYTES) else {
            break;
        };
        (part.after, part.most) = (after, most - page.tasks.len());
        let (more, now_waiting) = match run_part(&mut admission, &mut part, PRICE_OF_LIST).await {
            // Results so far are an answer, with a cursor for the rest.
            Err(ApiError::RateLimited { .. }) => break,
            part => part?,
        };
        page.tasks.extend(more.tasks);
        page.descriptions.extend(more.descriptions);
        page.next = more.next;
        waiting = now_waiting;
    }
    let described = |task: TaskView| {
        let description = page.descriptions.remove(&task.id);
        wire::TaskView {
            description,
            ..view::task(task)
        }
    };
    Ok(TasksResponse {
        tasks: page.tasks.into_iter().map(described).collect(),
        next: page.next,
        waiting,
    })
}

/// Shows the task `id`.
///
/// # Errors
/// As those of [`list_tasks`], and when there is no such task.
pub async fn show_task(
    app: &App,
    id: &str,
    caller: &TeamCaller,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::parse(&caller.repo_url, caller.agent_id.as_deref(), context)?;
    let id = &task_id("id", id)?;
    let mut admission = agent.begin(app, Right::Read).await?;
    let team = SelectedTeam::of(&admission, caller.team.as_deref()).await?;
    let (whole, waiting) = run(&mut admission, &mut ShowTask { team, id }).await?;
    Ok(of_task(whole, waiting, |task| {
        format!("Task {} is {}", task.id, task.status.as_str())
    }))
}

/// Adds tasks: all, or none.
///
/// # Errors
/// When a field is not valid, the caller is denied or may not push, the rules refuse it, or the store does not respond.
pub async fn new_tasks(
    app: &App,
    sent: &NewTasksRequest,
    context: CallerContext<'_>,
) -> Result<NewTasksResponse, ApiError> {
    let agent = TeamAgent::parse(&sent.caller.repo_url, sent.caller.agent_id.as_deref(), context)?;
    let tasks = require("tasks", &sent.tasks)?;
    if !(1..=NEW_TASKS).contains(&tasks.len()) {
        return Err(ApiError::InvalidField {
            field: "tasks",
            problem: format!("must be 1 to {NEW_TASKS}"),
        });
    }
    let tasks = parse_tasks(tasks)?;
    let dependencies = tasks.iter().map(|task| task.dependencies.len() + task.blocks.len());
    let count: usize = dependencies.sum();
    if count > NEW_DEPENDENCIES {
        return Err(ApiError::InvalidField {
            field: "tasks",
            problem: format!("have {count} dependencies together; send {NEW_DEPENDENCIES} at most"),
        });
    }
    let content = content(sent);
    let key = RequestKey {
        key: request_key(sent.request_key.as_deref())?,
        content: &content,
    };
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = SelectedTeam::of(&admission, sent.caller.team.as_deref()).await?;
    let mut call = CreateTasks {
        team,
        key,
        tasks: &tasks,
    };
    let (created, waiting) = run(&mut admission, &mut call).await?;
    let reason = match created.ids.as_slice() {
        [id] => format!("Task {id} is added"),
        ids => format!("{} tasks are added", ids.len()),
    };
    Ok(NewTasksResponse {
        tasks: created.tasks.into_iter().map(view::task).collect(),
        ids: created.ids,
        waiting,
        orchestration: Orchestration::new(Action::Proceed, reason),
    })
}

/// Changes the task `id`: all that is sent, or nothing.
///
/// # Errors
/// As those of [`new_tasks`].
pub async fn edit_task(
    app: &App,
    id: &str,
    sent: &EditTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::parse(&sent.caller.repo_url, sent.caller.agent_id.as_deref(), context)?;
    let id = &task_id("id", id)?;
    let changes = changes(sent)?;
    if sent.assignee.is_some() {
        let is_alone = *sent
            == EditTaskRequest {
                caller: sent.caller.clone(),
                assignee: sent.assignee.clone(),
                ..EditTaskRequest::default()
            };
        if !is_alone {
            return Err(ApiError::InvalidField {
                field: "assignee",
                problem: "must be sent alone".to_owned(),
            });
        }
    }
    let assignee = sent.assignee.as_deref().filter(|handle| !handle.is_empty());
    let assignee = assignee.map(Handle::parse).transpose().map_err(in_field("assignee"))?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = SelectedTeam::of(&admission, sent.caller.team.as_deref()).await?;
    if sent.assignee.is_some() {
        let mut call = AssignTask {
            team,
            id,
            to: assignee.as_ref(),
        };
        let (whole, waiting) = run(&mut admission, &mut call).await?;
        return Ok(of_task(whole, waiting, |task| match &task.assignee {
            Some(handle) => format!("Task {} is assigned to \"{handle}\"", task.id),
            None => format!("Task {} is no longer assigned", task.id),
        }));
    }
    let mut call = UpdateTask {
        team,
        id,
        changes: &changes,
    };
    let (updated, waiting) = run(&mut admission, &mut call).await?;
    match updated {
        UpdateOutcome::Task(whole) => Ok(of_task(*whole, waiting, |task| format!("Updated task {}", task.id))),
        UpdateOutcome::NotByUpdate { from, to } => {
            let id = id.as_str().to_owned();
            let refusal = TeamRefusal::NotByEdit { id, from, to };
            Err(TeamRefused { refusal, waiting }.into())
        }
    }
}

/// Removes the task `id`; with `is_unlinked` even if others depend on it.
///
/// # Errors
/// As those of [`new_tasks`].
pub async fn delete_task(
    app: &App,
    id: &str,
    caller: &TeamCaller,
    is_unlinked: bool,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::parse(&caller.repo_url, caller.agent_id.as_deref(), context)?;
    let id = &task_id("id", id)?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = SelectedTeam::of(&admission, caller.team.as_deref()).await?;
    let mut call = DeleteTask { team, id, is_unlinked };
    let (unblocked, waiting) = run(&mut admission, &mut call).await?;
    let mut response = answer(
        None,
        waiting,
        Action::Proceed,
        format!("Task {} is deleted", id.as_str()),
    );
    response.unblocked = unblocked.count;
    response.not_told = unblocked.not_told;
    Ok(response)
}

/// A response about `task`, with nothing else.
pub(super) fn answer(
    task: Option<coord_protocol::tasks::TaskView>,
    waiting: Waiting,
    action: Action,
    reason: impl Into<String>,
) -> TaskResponse {
    TaskResponse {
        task,
        dependency_results: Vec::new(),
        unmet: Vec::new(),
        warnings: Vec::new(),
        unblocked: 0,
        not_told: Vec::new(),
        passed_over: Vec::new(),
        held: Vec::new(),
        locks: BTreeMap::new(),
        kept_files: Vec::new(),
        orphaned_dependencies: Vec::new(),
        waiting,
        orchestration: Orchestration::new(action, reason),
    }
}

/// A response about a task and its dependencies; `reason` describes its state.
pub(super) fn of_task(
    whole: FullTask,
    waiting: Waiting,
    reason: impl FnOnce(&coord_protocol::tasks::TaskView) -> String,
) -> TaskResponse {
    let mut missing = whole.left_out.clone();
    let (task, results) = view::whole_task(whole);
    let reason = reason(&task);
    let mut room = MOST_BYTES.saturating_sub(json_bytes(&task));
    let mut response = answer(Some(task), waiting, Action::Proceed, reason);
    for result in results {
        let bytes = json_bytes(&result);
        match room.checked_sub(bytes) {
            Some(rest) => {
                room = rest;
                response.dependency_results.push(result);
            }
            None => missing.push(result.id),
        }
    }
    response.warnings.extend(left_out(&missing));
    response
}

/// Most bytes of a task and the results of its dependencies in a response.
const MOST_BYTES: usize = 256 * 1024;

/// Short records may take up to twice as much with their escapes.
fn json_bytes(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

/// The warning that results of met dependencies have no room in a response.
fn left_out(ids: &[String]) -> Option<String> {
    const MOST_NAMED: usize = 20;
    let named = &ids[..ids.len().min(MOST_NAMED)];
    let more = match ids.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!ids.is_empty()).then(|| {
        format!(
            "RESULTS_LEFT_OUT: There is no room for the results of these met dependencies; show each of them: {}{more}",
            named.join(", ")
        )
    })
}

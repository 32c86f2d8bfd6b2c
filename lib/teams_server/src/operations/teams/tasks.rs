//! Adds, changes, lists, shows and removes tasks.

use std::collections::BTreeMap;

use coord_protocol::bounds::{NEW_DEPENDENCIES, NEW_TASKS, TITLE_CHARS};
use coord_protocol::sentence::list_first;
use coord_protocol::tasks::{
    self as wire, EditTaskRequest, NewTasksRequest, NewTasksResponse, TaskResponse, TaskStatus, TasksResponse,
};
use coord_protocol::teams::TeamCaller;
use coord_protocol::{Action, Orchestration, Waiting};

use super::caller::{CallerContext, TeamAgent};
use super::calls::{
    AssignTask, CreateTasks, DeleteTask, ListTasks, MAX_PARTS, PRICE_OF_LIST, ShowTask, UpdateTask, run, run_part,
};
use super::task_input::{changes, parse_tasks};
use super::team_selection::SelectedTeam;
use super::texts::{content, number, page_limit, request_key, task_id};
use super::view;
use crate::refusal::TeamRefused;
use coord_domain::FilePath;
use coord_domain::team::Handle;
use coord_server::admission::Right;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{parse_optional, require};
use coord_teams_state::tasks::{FullTask, Readiness, TaskFilter, TaskView, UpdateOutcome};
use coord_teams_state::teams::TeamRefusal;

/// A page with this many bytes of tasks reads no further part. A part returns at most 128 KiB, or one task.
const ENOUGH_BYTES: usize = 128 << 10;

/// A request for a list of tasks. Its texts are not yet parsed.
#[derive(Debug)]
pub struct TasksRequest<'a> {
    pub caller: &'a TeamCaller,
    pub status: Option<TaskStatus>,
    pub owner: Option<&'a str>,
    /// Only tasks that may be claimed, that wait for others, or that have no owner.
    pub readiness: Option<Readiness>,
    /// Only tasks about this file.
    pub file: Option<&'a str>,
    /// Only tasks with this text in the title.
    pub text: Option<&'a str>,
    /// Only tasks after this number.
    pub after: u64,
    pub limit: Option<usize>,
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
    let agent = TeamAgent::of(request.caller, context)?;
    let owner = parse_optional("owner", request.owner, Handle::parse)?;
    let file = parse_optional("file", request.file, FilePath::parse)?;
    let most = page_limit(request.limit)?;
    let text = request.text.unwrap_or_default();
    if text.chars().count() > TITLE_CHARS {
        let problem = format!("has more than {TITLE_CHARS} characters");
        return Err(ApiError::invalid_field("text", problem));
    }
    let after = number("after", Some(request.after))?.unwrap_or_default();
    let mut admission = agent.begin(app, Right::Read).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
    let filter = TaskFilter {
        status: request.status,
        owner: owner.as_ref(),
        readiness: request.readiness,
        text,
        file: file.as_ref().map_or("", FilePath::as_str),
        has_descriptions: request.has_descriptions,
    };
    let mut call = ListTasks {
        team,
        after,
        most,
        filter: &filter,
    };
    let (mut page, mut waiting) = run_part(&mut admission, &mut call, PRICE_OF_LIST).await?;
    for _ in 1..MAX_PARTS {
        let description_bytes: usize = page.descriptions.values().map(String::len).sum();
        let bytes = description_bytes + page.tasks.iter().map(TaskView::bytes).sum::<usize>();
        let Some(after) = page.next.filter(|_| page.tasks.len() < most && bytes < ENOUGH_BYTES) else {
            break;
        };
        (call.after, call.most) = (after, most - page.tasks.len());
        let (part, new_waiting) = match run_part(&mut admission, &mut call, PRICE_OF_LIST).await {
            // The caller gets the tasks so far, and a cursor for the rest.
            Err(ApiError::RateLimited { .. }) => break,
            result => result?,
        };
        page.tasks.extend(part.tasks);
        page.descriptions.extend(part.descriptions);
        page.next = part.next;
        waiting = new_waiting;
    }
    let to_view = |task: TaskView| {
        let description = page.descriptions.remove(&task.id);
        wire::TaskView {
            description,
            ..view::task(task)
        }
    };
    Ok(TasksResponse {
        tasks: page.tasks.into_iter().map(to_view).collect(),
        next: page.next,
        waiting,
    })
}

/// Shows the task `id`.
///
/// # Errors
/// Those of [`list_tasks`], and when there is no such task.
pub async fn show_task(
    app: &App,
    id: &str,
    caller: &TeamCaller,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::of(caller, context)?;
    let id = &task_id("id", id)?;
    let mut admission = agent.begin(app, Right::Read).await?;
    let team = SelectedTeam::of(&admission, caller.team.as_deref()).await?;
    let (task, waiting) = run(&mut admission, &mut ShowTask { team, id }).await?;
    Ok(task_response(task, waiting, |task| {
        format!("Task {} is {}", task.id, task.status.as_str())
    }))
}

/// Adds all tasks of the request, or none.
///
/// # Errors
/// When a field is not valid, the caller is denied or may not push, the rules refuse it, or the store does not respond.
pub async fn new_tasks(
    app: &App,
    request: &NewTasksRequest,
    context: CallerContext<'_>,
) -> Result<NewTasksResponse, ApiError> {
    let agent = TeamAgent::of(&request.caller, context)?;
    let tasks = require("tasks", &request.tasks)?;
    if !(1..=NEW_TASKS).contains(&tasks.len()) {
        return Err(ApiError::invalid_field("tasks", format!("must be 1 to {NEW_TASKS}")));
    }
    let tasks = parse_tasks(tasks)?;
    let dependencies = tasks.iter().map(|task| task.dependencies.len() + task.blocks.len());
    let count: usize = dependencies.sum();
    if count > NEW_DEPENDENCIES {
        let problem = format!("have {count} dependencies together; send {NEW_DEPENDENCIES} at most");
        return Err(ApiError::invalid_field("tasks", problem));
    }
    let content = content(request);
    let key = request_key(request.request_key.as_deref(), &content)?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
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

/// Makes all changes of the request to the task `id`, or none.
///
/// # Errors
/// Those of [`new_tasks`].
pub async fn edit_task(
    app: &App,
    id: &str,
    request: &EditTaskRequest,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::of(&request.caller, context)?;
    let id = &task_id("id", id)?;
    let changes = changes(request)?;
    if request.assignee.is_some() {
        let is_alone = *request
            == EditTaskRequest {
                caller: request.caller.clone(),
                assignee: request.assignee.clone(),
                ..EditTaskRequest::default()
            };
        if !is_alone {
            return Err(ApiError::invalid_field("assignee", "must be sent alone"));
        }
    }
    let assignee = request.assignee.as_deref().filter(|handle| !handle.is_empty());
    let assignee = parse_optional("assignee", assignee, Handle::parse)?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = SelectedTeam::of(&admission, request.caller.team.as_deref()).await?;
    if request.assignee.is_some() {
        let mut call = AssignTask {
            team,
            id,
            to: assignee.as_ref(),
        };
        let (task, waiting) = run(&mut admission, &mut call).await?;
        return Ok(task_response(task, waiting, |task| match &task.assignee {
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
        UpdateOutcome::Task(task) => Ok(task_response(*task, waiting, |task| {
            format!("Updated task {}", task.id)
        })),
        UpdateOutcome::NotByUpdate { from, to } => {
            let id = id.as_str().to_owned();
            let refusal = TeamRefusal::NotByEdit { id, from, to };
            Err(TeamRefused { refusal, waiting }.into())
        }
    }
}

/// Removes the task `id`. With `is_unlinked`, removes it even if others depend on it.
///
/// # Errors
/// Those of [`new_tasks`].
pub async fn delete_task(
    app: &App,
    id: &str,
    caller: &TeamCaller,
    is_unlinked: bool,
    context: CallerContext<'_>,
) -> Result<TaskResponse, ApiError> {
    let agent = TeamAgent::of(caller, context)?;
    let id = &task_id("id", id)?;
    let mut admission = agent.begin(app, Right::Push).await?;
    let team = SelectedTeam::of(&admission, caller.team.as_deref()).await?;
    let mut call = DeleteTask { team, id, is_unlinked };
    let (unblocked, waiting) = run(&mut admission, &mut call).await?;
    let mut response = empty_response(
        None,
        waiting,
        Action::Proceed,
        format!("Task {} is deleted", id.as_str()),
    );
    response.unblocked = unblocked.count;
    response.not_told = unblocked.not_told;
    Ok(response)
}

/// A response with only `task`, if any.
pub(super) fn empty_response(
    task: Option<wire::TaskView>,
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

/// A response about a task and its dependencies. `reason` describes the state of the task.
pub(super) fn task_response(
    task: FullTask,
    waiting: Waiting,
    reason: impl FnOnce(&wire::TaskView) -> String,
) -> TaskResponse {
    let mut left_out = task.left_out.clone();
    let (task, results) = view::full_task(task);
    let reason = reason(&task);
    let mut room = MAX_BYTES.saturating_sub(json_bytes(&task));
    let mut response = empty_response(Some(task), waiting, Action::Proceed, reason);
    for result in results {
        let bytes = json_bytes(&result);
        match room.checked_sub(bytes) {
            Some(rest) => {
                room = rest;
                response.dependency_results.push(result);
            }
            None => left_out.push(result.id),
        }
    }
    response.warnings.extend(left_out_warning(&left_out));
    response
}

/// Most bytes of a task and the results of its dependencies in a response.
const MAX_BYTES: usize = 256 * 1024;

/// The size in JSON. Escapes may double the size of a short record.
fn json_bytes(value: &impl serde::Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

/// The warning that a response has no room for the results of some completed dependencies.
fn left_out_warning(ids: &[String]) -> Option<String> {
    const MAX_LISTED: usize = 20;
    (!ids.is_empty()).then(|| {
        format!(
            "RESULTS_LEFT_OUT: There is no room for the results of these met dependencies; show each of them: {}",
            list_first(ids, MAX_LISTED)
        )
    })
}

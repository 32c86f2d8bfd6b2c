//! Tasks are added, changed, assigned and removed.

use serde::Serialize;

use super::record::{Priority, TaskStatus, TaskView, WholeTask};
use super::scripts::{ASSIGN_TASK, CREATE_TASKS, DELETE_TASK, UPDATE_TASK};
use crate::domain::team::{Handle, TaskId};
use crate::state::admission::Kind;
use crate::state::reply::arguments;
use crate::state::teams::{RequestKey, TeamOutcome, TeamTerms, run, run_as_many, unknown};
use crate::store::Store;

/// A task that another one names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A task of the team.
    Task(TaskId),
    /// A task of the same request, by its place from 0 on.
    New(usize),
}

fn names(named: &[Named]) -> String {
    let words = named.iter().map(|name| match name {
        Named::Task(id) => id.as_str().to_owned(),
        Named::New(place) => format!("#{}", place + 1),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A task to be added.
#[derive(Clone, Debug, Default)]
pub struct NewTask {
    /// The title, not empty.
    pub title: String,
    /// The description, or empty.
    pub description: String,
    /// The priority.
    pub priority: Priority,
    /// The id, for a task that is imported.
    pub id: Option<TaskId>,
    /// What it depends on.
    pub dependencies: Vec<Named>,
    /// What depends on it.
    pub blocks: Vec<Named>,
    /// Files that it is about.
    pub files: Vec<String>,
    /// Their branch.
    pub branch: Option<String>,
    /// The intent that it serves.
    pub intent_id: Option<String>,
}

#[derive(Serialize)]
struct Fields<'a> {
    title: &'a str,
    priority: Priority,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    intent_id: Option<&'a str>,
}

/// Tasks that were added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreatedTasks {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// Their ids, in the order of the request.
    pub ids: Vec<String>,
    /// The tasks as they are now, without those that are gone since a first request.
    pub tasks: Vec<TaskView>,
}

/// Edges that cost as much of the limits as a path of another request.
const EDGES_OF_A_PATH: usize = 32;

/// Adds `tasks`, 1 to 200, all or none. A ring in the refusal names a new task by `#` and its place from 1 on.
///
/// # Errors
/// When the store gives no reply, or none that is understood.
pub async fn create_tasks(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    key: RequestKey<'_>,
    tasks: &[NewTask],
) -> TeamOutcome<CreatedTasks> {
    let mut args = Vec::from(key.arguments(&CREATE_TASKS));
    for task in tasks {
        let fields = Fields {
            title: &task.title,
            priority: task.priority,
            id: task.id.as_ref().map(TaskId::as_str),
            files: &task.files,
            branch: task.branch.as_deref(),
            intent_id: task.intent_id.as_deref(),
        };
        let fields = serde_json::to_string(&fields).unwrap_or_default();
        args.extend(arguments([
            &fields,
            &task.description,
            &names(&task.dependencies),
            &names(&task.blocks),
        ]));
    }
    let edges = tasks.iter().map(|task| task.dependencies.len() + task.blocks.len());
    let as_many = (Kind::Read, tasks.len() + edges.sum::<usize>() / EDGES_OF_A_PATH);
    run_as_many(store, &CREATE_TASKS, terms, as_many, args, |mut reply| {
        match reply.outcome.as_str() {
            "CREATED" => Ok(CreatedTasks {
                now: reply.now,
                ids: reply.texts()?,
                tasks: reply.tuples(TaskView::read)?,
            }),
            _ => unknown(&reply),
        }
    })
    .await
}

/// What is changed of a task; what is `None` stays.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TaskChanges {
    /// The title, not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Files that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// Their branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The intent that it serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// The status that it should have: the same, or the change is refused or left to another call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Forget how often its claims have lapsed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clear_lapses: bool,
    /// `dependencies` names the completed ones too: those that it leaves out are dropped.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub drops_completed: bool,
    /// The description, empty for none.
    #[serde(skip)]
    pub description: Option<String>,
    /// A note to add, or empty.
    #[serde(skip)]
    pub note: String,
    /// What it depends on, besides what is completed.
    #[serde(skip)]
    pub dependencies: Option<Vec<TaskId>>,
    /// What depends on it, besides what is completed.
    #[serde(skip)]
    pub blocks: Option<Vec<TaskId>>,
}

/// What came of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Updated {
    /// It is made.
    Task(Box<WholeTask>),
    /// The status would go forward: by a claim or a completion. Nothing was changed.
    NotByUpdate {
        /// The status.
        from: String,
        /// The one that was asked for.
        to: String,
    },
}

/// Changes a task: all that is given, or nothing.
///
/// # Errors
/// As those of [`create_tasks`].
pub async fn update_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    changes: &TaskChanges,
) -> TeamOutcome<Updated> {
    let ids = |ids: &Option<Vec<TaskId>>| {
        let words: Vec<&str> = ids.iter().flatten().map(TaskId::as_str).collect();
        words.join(" ")
    };
    let flag = |is_given: bool| if is_given { "1" } else { "" };
    let args = arguments([
        id.as_str(),
        &serde_json::to_string(changes).unwrap_or_default(),
        flag(changes.description.is_some()),
        changes.description.as_deref().unwrap_or_default(),
        &changes.note,
        flag(changes.dependencies.is_some()),
        &ids(&changes.dependencies),
        flag(changes.blocks.is_some()),
        &ids(&changes.blocks),
    ]);
    run(store, &UPDATE_TASK, terms, Kind::Read, args, |mut reply| {
        match reply.outcome.as_str() {
            "UPDATED" => Ok(Updated::Task(Box::new(reply.tuple(WholeTask::read)?))),
            "NOT_BY_UPDATE" => Ok(Updated::NotByUpdate {
                from: reply.text()?,
                to: reply.text()?,
            }),
            _ => unknown(&reply),
        }
    })
    .await
}

/// Keeps a task for a member for ten minutes, or for nobody.
///
/// # Errors
/// As those of [`create_tasks`].
pub async fn assign_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    to: Option<&Handle>,
) -> TeamOutcome<WholeTask> {
    let args = arguments([id.as_str(), to.map_or("", Handle::as_str)]);
    run(store, &ASSIGN_TASK, terms, Kind::Read, args, |mut reply| {
        match reply.outcome.as_str() {
            "ASSIGNED" => reply.tuple(WholeTask::read),
            _ => unknown(&reply),
        }
    })
    .await
}

/// What followed for the dependents of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unblocked {
    /// Number of tasks without a dependency that is not met, now.
    pub count: u64,
    /// Handles of owners and assignees that were not told, because there is no room for it.
    pub not_told: Vec<String>,
}

/// Removes a task; with `is_unlinked` even if others depend on it.
///
/// # Errors
/// As those of [`create_tasks`].
pub async fn delete_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    is_unlinked: bool,
) -> TeamOutcome<Unblocked> {
    let args = arguments([id.as_str(), if is_unlinked { "1" } else { "" }]);
    run(store, &DELETE_TASK, terms, Kind::Read, args, |mut reply| {
        match reply.outcome.as_str() {
            "DELETED" => Ok(Unblocked {
                count: reply.number()?.unsigned_abs(),
                not_told: reply.texts()?,
            }),
            _ => unknown(&reply),
        }
    })
    .await
}

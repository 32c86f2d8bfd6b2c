//! Tasks are added, changed, assigned and removed.

use serde::{Deserialize, Serialize, Serializer};

use super::record::{FullTask, Priority, TaskStatus, TaskView};
use super::scripts::{ASSIGN_TASK, CREATE_TASKS, DELETE_TASK, UPDATE_TASK};
use crate::teams::{RequestKey, RequestKeyArgs, TeamOutcome, TeamTerms, answer_of, run, run_with_cost};
use coord_domain::team::{Handle, TaskId};
use coord_state::admission::{RequestKind, is_false};
use coord_store::Store;

/// A task that another one names, as `create_tasks.lua` reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TaskReference {
    /// A task of the team.
    Task(TaskId),
    /// A task of the same request, by its index.
    New(#[serde(serialize_with = "serialize_position")] usize),
}

/// Writes the position of a task in the request, from 1 on.
fn serialize_position<S: Serializer>(index: &usize, serializer: S) -> Result<S::Ok, S::Error> {
    (index + 1).serialize(serializer)
}

/// A task to be added, as `create_tasks.lua` reads it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NewTask {
    /// The title, not empty.
    pub title: String,
    pub priority: Priority,
    /// The description, or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The id of an imported task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<TaskId>,
    /// Its name in a refusal if it has no id; without either, the name is `#` and its position, from 1 on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Files that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The intent that it serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<TaskReference>,
    /// Tasks that depend on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<TaskReference>,
}

/// Arguments of `create_tasks.lua`.
#[derive(Serialize)]
struct CreateTasksArgs<'a> {
    #[serde(flatten)]
    key: RequestKeyArgs,
    tasks: &'a [NewTask],
}

/// Tasks that were added.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CreatedTasks {
    /// The store's clock, Unix seconds.
    #[serde(skip)]
    pub now: i64,
    /// Their ids, in the order of the request.
    pub ids: Vec<String>,
    /// The tasks as they are now; for a repeated request, without those that were removed since.
    #[serde(default)]
    pub tasks: Vec<TaskView>,
}

/// Number of edges that count against the limits like one path of another request.
const EDGES_OF_A_PATH: usize = 32;

/// Adds `tasks`, 1 to 200, all or none.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn create_tasks(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    key: RequestKey<'_>,
    tasks: &[NewTask],
) -> TeamOutcome<CreatedTasks> {
    let creation = CreateTasksArgs {
        key: key.args(&CREATE_TASKS),
        tasks,
    };
    let edges = tasks.iter().map(|task| task.dependencies.len() + task.blocks.len());
    let cost = (RequestKind::Read, tasks.len() + edges.sum::<usize>() / EDGES_OF_A_PATH);
    run_with_cost(store, &CREATE_TASKS, terms, cost, &creation, |reply| {
        let created: CreatedTasks = reply.object_of("CREATED")?;
        Ok(CreatedTasks {
            now: reply.now,
            ..created
        })
    })
    .await
}

/// Changes of a task; `None` leaves a field.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TaskChanges {
    /// The title, not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Files that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The intent that it serves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// The status that it should have. If it has another one, the change is refused or left to another call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Whether the count of expired claims is reset.
    #[serde(skip_serializing_if = "is_false")]
    pub clear_lapses: bool,
    /// Whether `dependencies` names the completed ones too: then those that it leaves out are removed.
    #[serde(skip_serializing_if = "is_false")]
    pub drops_completed: bool,
    /// The description, empty for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A note to add, or empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Its dependencies, besides completed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<TaskId>>,
    /// Tasks that depend on it, besides completed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<Vec<TaskId>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    Task(Box<FullTask>),
    /// Only a claim or a completion can make this change of status. Nothing was changed.
    NotByUpdate {
        from: String,
        /// The requested status.
        to: String,
    },
}

/// The answer `NOT_BY_UPDATE`.
#[derive(Deserialize)]
struct Transition {
    from: String,
    to: String,
}

/// Arguments of `update_task.lua`.
#[derive(Serialize)]
struct UpdateTaskArgs<'a> {
    task_id: &'a str,
    changes: &'a TaskChanges,
}

/// Makes all of the `changes` of a task, or none.
///
/// # Errors
/// As those of [`create_tasks`].
pub async fn update_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    changes: &TaskChanges,
) -> TeamOutcome<UpdateOutcome> {
    let update = UpdateTaskArgs {
        task_id: id.as_str(),
        changes,
    };
    run(
        store,
        &UPDATE_TASK,
        terms,
        RequestKind::Read,
        &update,
        |reply| match reply.outcome.as_str() {
            "UPDATED" => Ok(UpdateOutcome::Task(reply.object()?)),
            "NOT_BY_UPDATE" => {
                let Transition { from, to } = reply.object()?;
                Ok(UpdateOutcome::NotByUpdate { from, to })
            }
            _ => reply.unknown(),
        },
    )
    .await
}

/// Arguments of `assign_task.lua`.
#[derive(Serialize)]
struct AssignTaskArgs<'a> {
    task_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a str>,
}

/// Reserves a task for a member for ten minutes, or for none.
///
/// # Errors
/// As those of [`create_tasks`].
pub async fn assign_task(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    id: &TaskId,
    to: Option<&Handle>,
) -> TeamOutcome<FullTask> {
    let request = AssignTaskArgs {
        task_id: id.as_str(),
        to: to.map(Handle::as_str),
    };
    run(
        store,
        &ASSIGN_TASK,
        terms,
        RequestKind::Read,
        &request,
        answer_of("ASSIGNED"),
    )
    .await
}

/// The effect on the dependents of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Unblocked {
    /// Number of tasks whose dependencies are now all met.
    pub count: u64,
    /// Handles of owners and assignees that were not notified, because their inboxes are full.
    #[serde(default)]
    pub not_told: Vec<String>,
}

/// Arguments of `delete_task.lua`.
#[derive(Serialize)]
struct DeleteTaskArgs<'a> {
    task_id: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    is_unlinked: bool,
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
    let deletion = DeleteTaskArgs {
        task_id: id.as_str(),
        is_unlinked,
    };
    run(
        store,
        &DELETE_TASK,
        terms,
        RequestKind::Read,
        &deletion,
        answer_of("DELETED"),
    )
    .await
}

//! The request and the sentence for one change of the files.

use coord_protocol::tasks::{NewTask, TaskPriority};
use coord_teams::compare::{Change, Recipient};
use coord_teams::names::TaskId;
use coord_teams::status::Priority;

/// The maximum number of tasks in a request.
const MAX_TASKS: usize = 200;

/// The maximum number of bytes of their texts.
const MAX_BYTES: usize = 256 << 10;

/// The number of `changes` from the first on that create tasks and fit into one request.
pub(super) fn batch_size(changes: &[Change]) -> usize {
    let mut bytes = 0;
    let fits = |change: &&Change| match change {
        Change::CreateTask {
            title,
            description,
            dependencies,
            ..
        } => {
            bytes += title.len() + description.as_ref().map_or(0, String::len) + 70 * (dependencies.len() + 2);
            bytes <= MAX_BYTES
        }
        _ => false,
    };
    changes.iter().take(MAX_TASKS).take_while(fits).count()
}

/// The task that a change creates.
pub(super) fn new_task(change: &Change) -> Option<NewTask> {
    let Change::CreateTask {
        id,
        title,
        description,
        priority,
        dependencies,
    } = change
    else {
        return None;
    };
    Some(NewTask {
        id: Some(id.to_string()),
        title: Some(title.clone()),
        description: description.clone(),
        priority: Some(wire_priority(*priority)),
        dependencies: Some(dependencies.iter().map(TaskId::to_string).collect()),
        ..NewTask::default()
    })
}

/// The priority in requests.
pub(super) fn wire_priority(priority: Priority) -> TaskPriority {
    match priority {
        Priority::High => TaskPriority::High,
        Priority::Normal => TaskPriority::Normal,
        Priority::Low => TaskPriority::Low,
    }
}

/// The task that `change` is about.
pub(super) fn task_id(change: &Change) -> Option<&TaskId> {
    match change {
        Change::CreateTask { id, .. }
        | Change::EditTask { id, .. }
        | Change::EditDependencies { id, .. }
        | Change::Claim(id, _)
        | Change::Complete(id, _)
        | Change::Release(id, _)
        | Change::DeleteTask(id) => Some(id),
        _ => None,
    }
}

/// A sentence about `change` in the past tense.
pub(super) fn sentence(change: &Change) -> String {
    match change {
        Change::Join { handle, .. } => format!("{handle} joined"),
        Change::CreateTask { id, .. } => format!("task {id} created"),
        Change::EditTask { id, .. } => format!("task {id} changed"),
        Change::EditDependencies { id, .. } => format!("dependencies of task {id} changed"),
        Change::Claim(id, handle) => format!("task {id} claimed by {handle}"),
        Change::Complete(id, handle) => format!("task {id} completed by {handle}"),
        Change::Release(id, handle) => format!("task {id} released by {handle}"),
        Change::DeleteTask(id) => format!("task {id} deleted"),
        Change::Send {
            from,
            to: Recipient::One(to),
            ..
        } => format!("message of {from} to {to}"),
        Change::Send {
            from,
            to: Recipient::All,
            ..
        } => format!("message of {from} to all"),
        Change::ReadTo(handle, sequence) => format!("{handle} has read up to message {sequence}"),
        Change::RequestShutdown(handle) => format!("shutdown requested by {handle}"),
        Change::ApproveShutdown(handle) => format!("shutdown approved by {handle}"),
    }
}

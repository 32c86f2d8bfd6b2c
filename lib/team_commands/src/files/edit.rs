//! Edits and deletions of a task. The store would apply them to any newer state, so this compares each with the task
//! first.

use coord_opencode_tools::plugin_records;
use coord_protocol::ClientError;
use coord_protocol::tasks::EditTaskRequest;
use coord_protocol::teams::TeamCaller;
use coord_teams::compare::{Change, StoreTask};
use coord_teams::names::TaskId;

use super::change::wire_priority;
use super::server::{TeamReference, invalid_response, retry_rate_limited};

/// Applies `change` to the task `id`, unless the store has changed the same fields since it had the task as `before`.
/// Returns whether it applied the change.
///
/// # Errors
/// When the server returns an error, or no response.
pub(super) async fn edit(
    team_reference: &TeamReference,
    caller: &TeamCaller,
    change: &Change,
    id: &TaskId,
    before: Option<&StoreTask>,
) -> Result<bool, ClientError> {
    let client = &team_reference.client;
    // The task may change during a wait for the rate limit, so each attempt reads it again.
    retry_rate_limited(async || {
        let response = client.task(&team_reference.caller(None), id.as_str()).await?;
        let task = response.task.ok_or_else(|| invalid_response("it has no task"))?;
        let now = plugin_records::task(task).map_err(invalid_response)?;
        if before.is_some_and(|before| has_changed(change, before, &now)) {
            return Ok(false);
        }
        match edit_request(change, caller, &now) {
            Some(request) => drop(client.edit_task(id.as_str(), &request).await?),
            None => drop(client.delete_task(id.as_str(), caller, false).await?),
        }
        Ok(true)
    })
    .await
}

/// The request of an edit; `None` for a deletion.
fn edit_request(change: &Change, caller: &TeamCaller, now: &StoreTask) -> Option<EditTaskRequest> {
    let request = EditTaskRequest {
        caller: caller.clone(),
        ..EditTaskRequest::default()
    };
    match change {
        Change::EditTask {
            title,
            description,
            priority,
            ..
        } => Some(EditTaskRequest {
            title: title.clone(),
            description: description.clone().map(Option::unwrap_or_default),
            priority: priority.map(wire_priority),
            ..request
        }),
        Change::EditDependencies { add, remove, .. } => {
            let dependencies = now.dependencies.iter().chain(add).filter(|id| !remove.contains(id));
            Some(EditTaskRequest {
                dependencies: Some(dependencies.map(TaskId::to_string).collect()),
                ..request
            })
        }
        _ => None,
    }
}

/// Whether the store has changed the same fields. Does not compare dependencies, which both sides merge, and which
/// earlier changes of this sync have changed.
fn has_changed(change: &Change, before: &StoreTask, now: &StoreTask) -> bool {
    let (title, description, priority) = (
        before.title != now.title,
        before.description != now.description,
        before.priority != now.priority,
    );
    match change {
        Change::EditTask {
            title: new_title,
            description: new_description,
            priority: new_priority,
            ..
        } => {
            (new_title.is_some() && title)
                || (new_description.is_some() && description)
                || (new_priority.is_some() && priority)
        }
        Change::DeleteTask(_) => {
            title || description || priority || (before.status, &before.owner) != (now.status, &now.owner)
        }
        _ => false,
    }
}

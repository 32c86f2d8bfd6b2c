//! Edits and deletions of a task, which the store would make over any newer state: each is compared with the task just before.

use coord_opencode_tools::plugin_records;
use coord_protocol::ClientError;
use coord_protocol::tasks::EditTaskRequest;
use coord_protocol::teams::TeamCaller;
use coord_teams::compare::{Change, StoreTask};
use coord_teams::names::TaskId;

use super::change::wire_priority;
use super::server::{TeamReference, odd, patiently};

/// Makes a change of the task `id`, if the store has not changed the same since it was `known`; false where it has.
///
/// # Errors
/// When the server returns an error, or no response.
pub(super) async fn edit(
    team_reference: &TeamReference,
    caller: &TeamCaller,
    change: &Change,
    id: &TaskId,
    known: Option<&StoreTask>,
) -> Result<bool, ClientError> {
    let client = &team_reference.client;
    // As long as the limits of the server are waited for, the task may change: it is read again each time.
    patiently(async || {
        let shown = client.task(&team_reference.caller(None), id.as_str()).await?;
        let now = shown.task.ok_or_else(|| odd("it has no task"))?;
        let now = plugin_records::task(now).map_err(odd)?;
        if known.is_some_and(|known| has_changed(change, known, &now)) {
            return Ok(false);
        }
        match request(change, caller, &now) {
            Some(request) => drop(client.edit_task(id.as_str(), &request).await?),
            None => drop(client.delete_task(id.as_str(), caller, false).await?),
        }
        Ok(true)
    })
    .await
}

/// The request; none for a deletion.
fn request(change: &Change, caller: &TeamCaller, now: &StoreTask) -> Option<EditTaskRequest> {
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
            let kept = now.dependencies.iter().chain(add).filter(|on| !remove.contains(on));
            Some(EditTaskRequest {
                dependencies: Some(kept.map(TaskId::to_string).collect()),
                ..request
            })
        }
        _ => None,
    }
}

/// Whether the store has changed the same fields. Edges are one set of both sides, and differ by the changes before this one.
fn has_changed(change: &Change, known: &StoreTask, now: &StoreTask) -> bool {
    let (title, description, priority) = (
        known.title != now.title,
        known.description != now.description,
        known.priority != now.priority,
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
            title || description || priority || (known.status, &known.owner) != (now.status, &now.owner)
        }
        _ => false,
    }
}

//! Compares tasks one by one: fields, work, deletions.

use super::sides::{FileImport, Sides};
use super::{AgreedTask, Change, FindingKind};
use crate::bounds::{TEXT_BYTES, TITLE_CHARACTERS};
use crate::names::{Handle, TaskId};
use crate::refusal::quote;
use crate::status::{Priority, Status};
use crate::task::Task;
use crate::texts::{invalid_transition, reassigned};

/// Why something is not applied: the kind, the field, and the sentence.
pub type Reason = (FindingKind, String, String);

/// Compares the tasks that both sides have, or had.
pub fn compare(sides: &Sides, import: &mut FileImport) {
    for (id, file) in &sides.folder.tasks {
        let (id, file) = (id, file.task());
        let seen = sides.seen.and_then(|seen| seen.tasks.get(id.as_str()));
        match (sides.stored_tasks.get(id), seen) {
            (Some(stored), Some(seen)) => compare_task(sides, id, file, stored, seen, import),
            (Some(stored), None) => {
                if compared_fields(sides, file) != compared_fields(sides, stored) {
                    let message = "file and store differ, and the last seen value is unknown; both stay as they are";
                    import.report(FindingKind::Unknown, &sides.task_entry(id), "", message);
                    import.held.insert(id.clone());
                }
            }
            (None, Some(seen)) => {
                if compared_fields(sides, file) != with_open_dependencies(sides, seen) {
                    let message = "the task was deleted in the store, and changed in the file";
                    import.report(FindingKind::Conflict, &sides.task_entry(id), "", message);
                }
            }
            // `new_tasks` handles tasks that only the files have.
            (None, None) => {}
        }
    }
}

fn compared_fields(sides: &Sides, task: &Task) -> AgreedTask {
    AgreedTask::of(task, |id| sides.waits_for(id))
}

/// The seen task, without dependencies that were completed since: a cascade is not a change of the dependent.
fn with_open_dependencies(sides: &Sides, seen: &AgreedTask) -> AgreedTask {
    let mut seen = seen.clone();
    seen.dependencies.retain(|id| sides.waits_for(id));
    seen
}

fn compare_task(sides: &Sides, id: &TaskId, file: &Task, stored: &Task, seen: &AgreedTask, import: &mut FileImport) {
    let entry = sides.task_entry(id);
    // Whether the value of the file counts: it was changed there, and differs from the store's.
    let mut is_changed = |field: &str, is_seen_in_file: bool, is_seen_in_store: bool, agree: bool| {
        if is_seen_in_file || agree {
            return false;
        }
        if !is_seen_in_store {
            let message = "changed in the file and in the store; the store's value stays";
            import.report(FindingKind::Conflict, &entry, field, message);
        }
        is_seen_in_store
    };
    let is_seen_priority = |priority: Priority| priority.as_str() == seen.priority;
    let title = is_changed(
        "title",
        file.title == seen.title,
        stored.title == seen.title,
        file.title == stored.title,
    );
    let description = is_changed(
        "description",
        file.description == seen.description,
        stored.description == seen.description,
        file.description == stored.description,
    );
    let priority = is_changed(
        "priority",
        is_seen_priority(file.priority),
        is_seen_priority(stored.priority),
        file.priority == stored.priority,
    );
    let must_edit = match check_text_bounds(file) {
        Ok(()) => title || description || priority,
        Err((kind, field, message)) => {
            if title || description {
                import.report(kind, &entry, field, message);
            }
            false
        }
    };
    let in_file = AgreedTask::of(file, |_| false);
    let in_store = AgreedTask::of(stored, |_| false);
    let work = if in_file.state() == seen.state() || in_file.state() == in_store.state() {
        Ok(Vec::new())
    } else if let Some(handle) = completed_after_expiry(sides, id, file) {
        Ok(vec![Change::Complete(id.clone(), handle)])
    } else if in_store.state() == seen.state() || is_ahead(file, stored) {
        steps(sides, id, stored, file, import)
    } else {
        let message = format!(
            "{} in the file, {} in the store since it was last seen; the store's stays",
            describe(file),
            describe(stored)
        );
        Err((FindingKind::Conflict, "status".to_owned(), message))
    };
    match work {
        Ok(steps) => import.changes.extend(steps),
        Err((kind, field, message)) => import.report(kind, &entry, field, message),
    }
    if must_edit {
        import.changes.push(Change::EditTask {
            id: id.clone(),
            title: title.then(|| file.title.clone()),
            description: description.then(|| file.description.clone()),
            priority: priority.then_some(file.priority),
        });
    }
}

fn describe(task: &Task) -> String {
    match &task.owner {
        Some(owner) => format!("{} of {}", task.status, quote(owner)),
        None => task.status.to_string(),
    }
}

/// Whether the same owner has gone on in the file, from where the store is.
fn is_ahead(file: &Task, stored: &Task) -> bool {
    file.owner == stored.owner && stored.owner.is_some() && stored.status.may_become(file.status)
}

/// The owner in the file, if it completed the task there after its claim expired in the store, and no other member has
/// claimed it: late work is not lost.
fn completed_after_expiry(sides: &Sides, id: &TaskId, file: &Task) -> Option<Handle> {
    let stored = sides.store.tasks.get(id).filter(|task| task.lapsed)?;
    let owner = file.owner.as_deref().filter(|_| file.status == Status::Completed)?;
    let is_previous_owner = stored
        .previous_owner
        .as_ref()
        .is_some_and(|handle| handle.as_str() == owner);
    let handle = sides.store.speaks_for(owner).filter(|_| is_previous_owner);
    handle.cloned()
}

pub fn check_text_bounds(task: &Task) -> Result<(), Reason> {
    let (field, message) = if task.title.chars().count() > TITLE_CHARACTERS {
        ("title", format!("a title has {TITLE_CHARACTERS} characters at most"))
    } else if task.description.as_ref().is_some_and(|text| text.len() > TEXT_BYTES) {
        ("description", format!("a description has {TEXT_BYTES} bytes at most"))
    } else {
        return Ok(());
    };
    Err((FindingKind::Bounds, field.to_owned(), message))
}

/// The calls that lead from one state of a task to another, if the rules permit that.
pub fn steps(sides: &Sides, id: &TaskId, from: &Task, to: &Task, import: &FileImport) -> Result<Vec<Change>, Reason> {
    let transition = || {
        (
            FindingKind::Transition,
            "status".to_owned(),
            invalid_transition(from.status, to.status),
        )
    };
    let owner = || {
        let owner = to.owner.as_deref().unwrap_or_default();
        import.speaker(sides.store, owner).ok_or_else(|| {
            let message = match &to.owner {
                Some(owner) => format!(
                    "{} is not a handle of this login, which cannot act for it",
                    quote(owner)
                ),
                None => format!("a task that is {} needs an owner", to.status),
            };
            (FindingKind::Foreign, "owner".to_owned(), message)
        })
    };
    match (from.status, to.status) {
        (Status::Pending, Status::InProgress) => Ok(vec![Change::Claim(id.clone(), owner()?)]),
        (Status::Pending, Status::Completed) if to.owner.is_none() => Err(transition()),
        // The file has made both steps since it was last seen.
        (Status::Pending, Status::Completed) => {
            let owner = owner()?;
            Ok(vec![
                Change::Claim(id.clone(), owner.clone()),
                Change::Complete(id.clone(), owner),
            ])
        }
        (Status::InProgress, Status::Completed) if from.owner == to.owner => {
            Ok(vec![Change::Complete(id.clone(), owner()?)])
        }
        (Status::InProgress, Status::Pending) => {
            let previous = from.owner.as_deref().unwrap_or_default();
            match sides.store.speaks_for(previous) {
                Some(handle) if to.owner.is_none() && to.warning == Some(reassigned(previous)) => {
                    Ok(vec![Change::Release(id.clone(), handle.clone())])
                }
                _ => Err(transition()),
            }
        }
        (Status::Completed, Status::Pending | Status::InProgress) => Err(transition()),
        _ => {
            let message = format!("{} in the store; a file cannot change the owner", describe(from));
            Err((FindingKind::NotByFile, "owner".to_owned(), message))
        }
    }
}

/// Imports the deletions of files that were seen. If all of them are gone, the folder is gone, and nothing is deleted.
pub fn import_deletions(sides: &Sides, import: &mut FileImport) {
    let Some(seen) = sides.seen else { return };
    let exists = |id: &str| {
        let task = TaskId::parse(id).map(|id| sides.task_entry(&id));
        sides.folder.tasks.contains_key(id) || task.is_ok_and(|entry| sides.folder.refused.contains_key(&entry))
    };
    let (present, gone): (Vec<_>, Vec<_>) = seen.tasks.iter().partition(|(id, _)| exists(id));
    for (id, seen) in gone {
        let Some((id, stored)) = sides.stored_tasks.get_key_value(id.as_str()) else {
            continue;
        };
        let entry = sides.task_entry(id);
        if present.is_empty() {
            let message = "no task that was seen is left; the tasks stay in the store";
            import.report(FindingKind::Vanished, &entry, "", message);
        } else if compared_fields(sides, stored) == with_open_dependencies(sides, seen) {
            import.changes.push(Change::DeleteTask(id.clone()));
        } else {
            let message = "the file was deleted, and the task changed in the store; it stays";
            import.report(FindingKind::Conflict, &entry, "", message);
        }
    }
}

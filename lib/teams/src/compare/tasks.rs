//! Tasks one by one: fields, work, deletions.

use super::sides::{FileImport, Sides};
use super::{AgreedTask, Change, Finding, Kind};
use crate::bounds::{TEXT_BYTES, TITLE_CHARACTERS};
use crate::names::{Handle, TaskId};
use crate::refusal::quote;
use crate::status::{Priority, Status};
use crate::task::Task;
use crate::texts::{invalid_transition, reassigned};

/// A reason for which something is not applied: why, which member, and the sentence.
pub type Reason = (Kind, String, String);

/// Compares the tasks that both sides have, or had.
pub fn compare(sides: &Sides, found: &mut FileImport) {
    for (id, file) in &sides.folder.tasks {
        let (id, file) = (id, file.task());
        let seen = sides.seen.and_then(|seen| seen.tasks.get(id.as_str()));
        match (sides.forms.get(id), seen) {
            (Some(form), Some(seen)) => both(sides, id, file, form, seen, found),
            (Some(form), None) => {
                let of = |task| AgreedTask::of(task, |id| sides.waits_for(id));
                if of(file) != of(form) {
                    let message = "file and store differ, and the last seen value is unknown; both stay as they are";
                    found
                        .findings
                        .push(Finding::new(Kind::Unknown, &sides.task(id), "", message));
                    found.held.insert(id.clone());
                }
            }
            (None, Some(seen)) => {
                if of_file(sides, file) != open(sides, seen) {
                    let message = "the task was deleted in the store, and changed in the file";
                    found
                        .findings
                        .push(Finding::new(Kind::Conflict, &sides.task(id), "", message));
                }
            }
            // Of the files alone: `new_tasks`.
            (None, None) => {}
        }
    }
}

fn of_file(sides: &Sides, file: &Task) -> AgreedTask {
    AgreedTask::of(file, |id| sides.waits_for(id))
}

/// The seen task, without dependencies that were completed since: a cascade is no change of the dependent.
fn open(sides: &Sides, seen: &AgreedTask) -> AgreedTask {
    let mut seen = seen.clone();
    seen.dependencies.retain(|id| sides.waits_for(id));
    seen
}

fn both(sides: &Sides, id: &TaskId, file: &Task, form: &Task, seen: &AgreedTask, found: &mut FileImport) {
    let entry = sides.task(id);
    let mut report = |(kind, field, message): Reason| {
        found.findings.push(Finding::new(kind, &entry, field, message));
    };
    // A value of the file that counts: it was changed there, and differs from the store's current one.
    let mut changed = |field: &str, file_same: bool, store_same: bool, agree: bool| {
        let conflict = !file_same && !agree && !store_same;
        if conflict {
            let message = "changed in the file and in the store; the store's value stays".to_owned();
            report((Kind::Conflict, field.to_owned(), message));
        }
        !file_same && !agree && !conflict
    };
    let form_seen = AgreedTask::of(form, |_| false);
    let priority = |priority: Priority| priority.as_str() == seen.priority;
    let title = changed(
        "title",
        file.title == seen.title,
        form.title == seen.title,
        file.title == form.title,
    );
    let description = changed(
        "description",
        file.description == seen.description,
        form.description == seen.description,
        file.description == form.description,
    );
    let priority = changed(
        "priority",
        priority(file.priority),
        priority(form.priority),
        file.priority == form.priority,
    );
    let edit = match texts_in_bounds(file) {
        Ok(()) => title || description || priority,
        Err(reason) => {
            if title || description {
                report(reason);
            }
            false
        }
    };
    let file_seen = AgreedTask::of(file, |_| false);
    let work = if file_seen.state() == seen.state() || file_seen.state() == form_seen.state() {
        Ok(Vec::new())
    } else if let Some(handle) = completed_after_expiry(sides, id, file) {
        Ok(vec![Change::Complete(id.clone(), handle)])
    } else if form_seen.state() == seen.state() || ahead(file, form) {
        steps(sides, id, form, file, found)
    } else {
        let message = format!(
            "{} in the file, {} in the store since it was last seen; the store's stays",
            describe(file),
            describe(form)
        );
        Err((Kind::Conflict, "status".to_owned(), message))
    };
    match work {
        Ok(steps) => found.changes.extend(steps),
        Err((kind, field, message)) => found.findings.push(Finding::new(kind, &entry, field, message)),
    }
    if edit {
        found.changes.push(Change::EditTask {
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

/// Whether the file is where the store is, and further: the same owner has gone on.
fn ahead(file: &Task, form: &Task) -> bool {
    file.owner == form.owner && form.owner.is_some() && form.status.may_become(file.status)
}

/// The owner in the file, if it completed there a task whose claim has expired in the store and that no other member
/// has claimed: late work is not lost.
fn completed_after_expiry(sides: &Sides, id: &TaskId, file: &Task) -> Option<Handle> {
    let stored = sides.store.tasks.get(id).filter(|task| task.lapsed)?;
    let owner = file.owner.as_deref().filter(|_| file.status == Status::Completed)?;
    let is_whose_it_was = stored
        .previous_owner
        .as_ref()
        .is_some_and(|handle| handle.as_str() == owner);
    let handle = sides.store.speaks_for(owner).filter(|_| is_whose_it_was);
    handle.cloned()
}

pub fn texts_in_bounds(task: &Task) -> Result<(), Reason> {
    let (field, message) = if task.title.chars().count() > TITLE_CHARACTERS {
        ("title", format!("a title has {TITLE_CHARACTERS} characters at most"))
    } else if task.description.as_ref().is_some_and(|text| text.len() > TEXT_BYTES) {
        ("description", format!("a description has {TEXT_BYTES} bytes at most"))
    } else {
        return Ok(());
    };
    Err((Kind::Bounds, field.to_owned(), message))
}

/// The calls that lead from one state of a task to another one, if the rules have such.
pub fn steps(sides: &Sides, id: &TaskId, from: &Task, to: &Task, found: &FileImport) -> Result<Vec<Change>, Reason> {
    let transition = || {
        (
            Kind::Transition,
            "status".to_owned(),
            invalid_transition(from.status, to.status),
        )
    };
    let owner = || {
        let owner = to.owner.as_deref().unwrap_or_default();
        found.speaker(sides.store, owner).ok_or_else(|| {
            let message = match &to.owner {
                Some(owner) => format!("{} is no handle of this login, which cannot act for it", quote(owner)),
                None => format!("a task that is {} needs an owner", to.status),
            };
            (Kind::Foreign, "owner".to_owned(), message)
        })
    };
    match (from.status, to.status) {
        (Status::Pending, Status::InProgress) => Ok(vec![Change::Claim(id.clone(), owner()?)]),
        (Status::Pending, Status::Completed) if to.owner.is_none() => Err(transition()),
        // Both steps since the last look.
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
            Err((Kind::NotByFile, "owner".to_owned(), message))
        }
    }
}

/// Files that were seen and are gone. All of them gone is a folder that is gone, and deletes nothing.
pub fn deletions(sides: &Sides, found: &mut FileImport) {
    let Some(seen) = sides.seen else { return };
    let there = |id: &str| {
        let task = TaskId::parse(id).map(|id| sides.task(&id));
        sides.folder.tasks.contains_key(id) || task.is_ok_and(|entry| sides.folder.refused.contains_key(&entry))
    };
    let (left, gone): (Vec<_>, Vec<_>) = seen.tasks.iter().partition(|(id, _)| there(id));
    let gone: Vec<_> = gone
        .into_iter()
        .filter_map(|(id, seen)| Some((sides.forms.get_key_value(id.as_str())?, seen)))
        .collect();
    for ((id, form), seen) in gone {
        let entry = sides.task(id);
        if left.is_empty() {
            let message = "no task that was seen is left; the tasks stay in the store";
            found.findings.push(Finding::new(Kind::Vanished, &entry, "", message));
        } else if of_file(sides, form) == open(sides, seen) {
            found.changes.push(Change::DeleteTask(id.clone()));
        } else {
            let message = "the file was deleted, and the task changed in the store; it stays";
            found.findings.push(Finding::new(Kind::Conflict, &entry, "", message));
        }
    }
}

use std::collections::{BTreeMap, BTreeSet};

use super::{AgreedState, AgreedTask, FileImport, Finding, Folder, Kind, SentNumbers, StoreTeam, config, inboxes};
use crate::bounds::{INBOX_BYTES, INBOX_MESSAGES};
use crate::layout::Entry;
use crate::message::InboxFile;
use crate::names::TaskId;
use crate::status::Status;
use crate::task::{Task, TaskFile};
use crate::texts::DEPENDENCY_WARNING;

/// The files to write, so that they match the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileExport {
    /// New and changed files. A file that says the same already is not among them.
    pub writes: BTreeMap<Entry, String>,
    /// Files of tasks that were deleted in the store.
    pub removals: BTreeSet<Entry>,
    /// Files that are not written, because they could not be read then.
    pub findings: Vec<Finding>,
    /// The seen records once all that is done.
    pub seen: AgreedState,
}

/// Compares the files with the store after the changes of `taken` were applied.
pub fn export_files(
    seen: Option<&AgreedState>,
    folder: &Folder,
    store: &StoreTeam,
    taken: &FileImport,
    sent: &SentNumbers,
) -> FileExport {
    let mut out = FileExport::default();
    if taken.vanished {
        out.seen = seen.cloned().unwrap_or_default();
        return out;
    }
    export_config(seen, folder, store, &mut out);
    export_inboxes(seen, folder, store, taken, sent, &mut out);
    export_tasks(seen, folder, store, taken, &mut out);
    out
}

fn export_config(seen: Option<&AgreedState>, folder: &Folder, store: &StoreTeam, out: &mut FileExport) {
    let entry = Entry::Config(store.name.clone());
    if folder.refused.contains_key(&entry) {
        let seen = seen.cloned().unwrap_or_default();
        (out.seen.members, out.seen.approvals) = (seen.members, seen.approvals);
        return;
    }
    let file = config::write(seen, folder.config.as_ref(), store);
    let known = |handle: &&String| store.members.contains_key(handle.as_str());
    let members = file.config().members.iter().map(|member| &member.agent_id);
    out.seen.members = members.filter(known).cloned().collect();
    out.seen.approvals = file.config().shutdown_approvals.iter().flatten().cloned().collect();
    if folder.config.as_ref() != Some(&file) {
        out.writes.insert(entry, file.render());
    }
}

fn export_inboxes(
    seen: Option<&AgreedState>,
    folder: &Folder,
    store: &StoreTeam,
    taken: &FileImport,
    sent: &SentNumbers,
    out: &mut FileExport,
) {
    for handle in store.members.keys() {
        let entry = Entry::Inbox(store.name.clone(), handle.clone());
        if folder.refused.contains_key(&entry) {
            let seen = seen.and_then(|seen| seen.inboxes.get(handle.as_str()));
            out.seen
                .inboxes
                .extend(seen.map(|seen| (handle.to_string(), seen.clone())));
            continue;
        }
        let file = folder.inboxes.get(handle);
        let written = inboxes::write(seen, sent, taken, file, store, handle);
        if file == Some(&written.inbox) {
            out.seen.inboxes.insert(handle.to_string(), written.seen());
            continue;
        }
        let text = written.inbox.render();
        match more_than_is_read(&written.inbox, &text) {
            None => {
                out.writes.insert(entry, text);
                out.seen.inboxes.insert(handle.to_string(), written.seen());
            }
            // It could not be read any longer.
            Some(message) => {
                out.findings.push(Finding::new(Kind::Bounds, &entry, "", message));
                out.seen.inboxes.insert(handle.to_string(), written.seen_unwritten());
            }
        }
    }
}

/// Why a reader would refuse the file. Nothing is taken out for that: the plugin never removes a message, and the file may be the only
/// place that still has it.
fn more_than_is_read(inbox: &InboxFile, text: &str) -> Option<String> {
    let (count, bytes) = (inbox.messages().len(), text.len());
    let excess = match (count > INBOX_MESSAGES, bytes > INBOX_BYTES) {
        (true, _) => format!("{count} messages; at most {INBOX_MESSAGES} are read"),
        (_, true) => format!("{bytes} bytes; at most {INBOX_BYTES} are read"),
        _ => return None,
    };
    Some(format!(
        "with the new messages it would have {excess}: remove read messages"
    ))
}

fn export_tasks(
    seen: Option<&AgreedState>,
    folder: &Folder,
    store: &StoreTeam,
    taken: &FileImport,
    out: &mut FileExport,
) {
    let seen_task = |id: &TaskId| seen.and_then(|seen| seen.tasks.get(id.as_str()));
    let mut forms = store.task_files();
    let waits_for = |id: &str| store.tasks.get(id).is_some_and(|task| task.status != Status::Completed);
    for (id, form) in &mut forms {
        let entry = Entry::Task(store.name.clone(), id.clone());
        if folder.refused.contains_key(&entry) || taken.held.contains(id) {
            out.seen
                .tasks
                .extend(seen_task(id).map(|seen| (id.to_string(), seen.clone())));
            continue;
        }
        out.seen.tasks.insert(id.to_string(), AgreedTask::of(form, waits_for));
        let written = match folder.tasks.get(id) {
            None => TaskFile::new(form.clone()),
            Some(file) if says(file.task(), form) => continue,
            Some(file) => file.with(updated(file.task(), form)),
        };
        out.writes.insert(entry, written.render());
    }
    // A task that was never seen is the files' own: the store has refused it.
    let deleted = folder
        .tasks
        .keys()
        .filter(|id| !forms.contains_key(*id) && seen_task(id).is_some());
    out.removals
        .extend(deleted.map(|id| Entry::Task(store.name.clone(), id.clone())));
}

fn same(one: &[String], other: &[String]) -> bool {
    one.iter().collect::<BTreeSet<_>>() == other.iter().collect::<BTreeSet<_>>()
}

/// The warning that belongs into the file: the store's; where it has none, another one than of dependencies stays.
fn warning(file: &Task, form: &Task) -> Option<String> {
    let stays = |warning: &String| !warning.contains(DEPENDENCY_WARNING);
    form.warning.clone().or_else(|| file.warning.clone().filter(stays))
}

/// Whether the file matches the store. Times are the store's own. Of a completed task, dependencies have no meaning any longer, and
/// `blocks` may name more than the store knows: a file from before the first sync keeps it, and its times.
fn says(file: &Task, form: &Task) -> bool {
    (&file.title, &file.description, file.priority) == (&form.title, &form.description, form.priority)
        && (file.status, &file.owner) == (form.status, &form.owner)
        && match form.status {
            Status::Completed => form.blocks.iter().all(|id| file.blocks.contains(id)),
            _ => same(&file.dependencies, &form.dependencies) && same(&file.blocks, &form.blocks),
        }
        && file.warning == warning(file, form)
}

fn updated(file: &Task, form: &Task) -> Task {
    let kept = |file: &Vec<String>, form: &Vec<String>| if same(file, form) { file.clone() } else { form.clone() };
    Task {
        created_at: file.created_at.clone(),
        dependencies: kept(&file.dependencies, &form.dependencies),
        blocks: kept(&file.blocks, &form.blocks),
        warning: warning(file, form),
        ..form.clone()
    }
}

use std::collections::{BTreeMap, BTreeSet};

use super::{
    AgreedState, AgreedTask, FileImport, Finding, FindingKind, Folder, SentNumbers, StoreTeam, config, inboxes,
};
use crate::bounds::{INBOX_BYTES, INBOX_MESSAGES};
use crate::layout::Entry;
use crate::message::InboxFile;
use crate::names::TaskId;
use crate::status::Status;
use crate::task::{Task, TaskFile};
use crate::texts::DEPENDENCY_WARNING;

/// The changes that make the files match the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileExport {
    /// New and changed files.
    pub writes: BTreeMap<Entry, String>,
    /// Files of tasks that were deleted in the store.
    pub removals: BTreeSet<Entry>,
    /// Files that are not written, because they would be too large to read.
    pub findings: Vec<Finding>,
    /// The seen records after all writes and removals.
    pub seen: AgreedState,
}

/// Compares the files with the store after the changes of `import` were applied.
pub fn export_files(
    seen: Option<&AgreedState>,
    folder: &Folder,
    store: &StoreTeam,
    import: &FileImport,
    sent: &SentNumbers,
) -> FileExport {
    let mut export = FileExport::default();
    if import.vanished {
        export.seen = seen.cloned().unwrap_or_default();
        return export;
    }
    export_config(seen, folder, store, &mut export);
    export_inboxes(seen, folder, store, import, sent, &mut export);
    export_tasks(seen, folder, store, import, &mut export);
    export
}

fn export_config(seen: Option<&AgreedState>, folder: &Folder, store: &StoreTeam, export: &mut FileExport) {
    let entry = Entry::Config(store.name.clone());
    if folder.refused.contains_key(&entry) {
        let seen = seen.cloned().unwrap_or_default();
        (export.seen.members, export.seen.approvals) = (seen.members, seen.approvals);
        return;
    }
    let file = config::write(seen, folder.config.as_ref(), store);
    let is_stored = |handle: &&String| store.members.contains_key(handle.as_str());
    let members = file.config().members.iter().map(|member| &member.agent_id);
    export.seen.members = members.filter(is_stored).cloned().collect();
    export.seen.approvals = file.config().shutdown_approvals.iter().flatten().cloned().collect();
    if folder.config.as_ref() != Some(&file) {
        export.writes.insert(entry, file.render());
    }
}

fn export_inboxes(
    seen: Option<&AgreedState>,
    folder: &Folder,
    store: &StoreTeam,
    import: &FileImport,
    sent: &SentNumbers,
    export: &mut FileExport,
) {
    for handle in store.members.keys() {
        let entry = Entry::Inbox(store.name.clone(), handle.clone());
        if folder.refused.contains_key(&entry) {
            let seen = seen.and_then(|seen| seen.inboxes.get(handle.as_str()));
            export
                .seen
                .inboxes
                .extend(seen.map(|seen| (handle.to_string(), seen.clone())));
            continue;
        }
        let file = folder.inboxes.get(handle);
        let exported = inboxes::export_inbox(seen, sent, import, file, store, handle);
        if file == Some(&exported.inbox) {
            export.seen.inboxes.insert(handle.to_string(), exported.seen());
            continue;
        }
        let text = exported.inbox.render();
        match check_readable(&exported.inbox, &text) {
            Ok(()) => {
                export.writes.insert(entry, text);
                export.seen.inboxes.insert(handle.to_string(), exported.seen());
            }
            Err(message) => {
                export
                    .findings
                    .push(Finding::new(FindingKind::Bounds, &entry, "", message));
                export
                    .seen
                    .inboxes
                    .insert(handle.to_string(), exported.seen_unwritten());
            }
        }
    }
}

/// Checks that a reader would not refuse the file for its size. No message is removed to make it fit: the plugin never
/// removes one, and the file may be the only place that still has it.
fn check_readable(inbox: &InboxFile, text: &str) -> Result<(), String> {
    let (count, bytes) = (inbox.messages().len(), text.len());
    let excess = match (count > INBOX_MESSAGES, bytes > INBOX_BYTES) {
        (true, _) => format!("{count} messages; at most {INBOX_MESSAGES} are read"),
        (_, true) => format!("{bytes} bytes; at most {INBOX_BYTES} are read"),
        _ => return Ok(()),
    };
    Err(format!(
        "with the new messages it would have {excess}: remove read messages"
    ))
}

fn export_tasks(
    seen: Option<&AgreedState>,
    folder: &Folder,
    store: &StoreTeam,
    import: &FileImport,
    export: &mut FileExport,
) {
    let seen_task = |id: &TaskId| seen.and_then(|seen| seen.tasks.get(id.as_str()));
    let stored_tasks = store.task_files();
    let waits_for = |id: &str| store.tasks.get(id).is_some_and(|task| task.status != Status::Completed);
    for (id, stored) in &stored_tasks {
        let entry = Entry::Task(store.name.clone(), id.clone());
        if folder.refused.contains_key(&entry) || import.held.contains(id) {
            export
                .seen
                .tasks
                .extend(seen_task(id).map(|seen| (id.to_string(), seen.clone())));
            continue;
        }
        let agreed = AgreedTask::of(stored, waits_for);
        export.seen.tasks.insert(id.to_string(), agreed);
        let file = match folder.tasks.get(id) {
            None => TaskFile::new(stored.clone()),
            Some(file) if matches_store(file.task(), stored) => continue,
            Some(file) => file.with(updated_task(file.task(), stored)),
        };
        export.writes.insert(entry, file.render());
    }
    // A task that was never seen exists only in the files: the store has refused it.
    let deleted = folder
        .tasks
        .keys()
        .filter(|id| !stored_tasks.contains_key(*id) && seen_task(id).is_some());
    export
        .removals
        .extend(deleted.map(|id| Entry::Task(store.name.clone(), id.clone())));
}

fn have_same_ids(one: &[String], other: &[String]) -> bool {
    one.iter().collect::<BTreeSet<_>>() == other.iter().collect::<BTreeSet<_>>()
}

/// The warning for the file: that of the store, or else the one in the file, unless it is about dependencies.
fn warning(file: &Task, stored: &Task) -> Option<String> {
    let stays = |warning: &String| !warning.contains(DEPENDENCY_WARNING);
    stored.warning.clone().or_else(|| file.warning.clone().filter(stays))
}

/// Whether the file matches the store. Times are not compared. Dependencies of a completed task do not matter, and its
/// `blocks` may name more tasks than the store has: a file from before the first sync keeps these, and its times.
fn matches_store(file: &Task, stored: &Task) -> bool {
    (&file.title, &file.description, file.priority) == (&stored.title, &stored.description, stored.priority)
        && (file.status, &file.owner) == (stored.status, &stored.owner)
        && match stored.status {
            Status::Completed => stored.blocks.iter().all(|id| file.blocks.contains(id)),
            _ => have_same_ids(&file.dependencies, &stored.dependencies) && have_same_ids(&file.blocks, &stored.blocks),
        }
        && file.warning == warning(file, stored)
}

fn updated_task(file: &Task, stored: &Task) -> Task {
    // If only the order differs, the order in the file stays.
    let ids = |file: &Vec<String>, stored: &Vec<String>| {
        if have_same_ids(file, stored) {
            file.clone()
        } else {
            stored.clone()
        }
    };
    Task {
        created_at: file.created_at.clone(),
        dependencies: ids(&file.dependencies, &stored.dependencies),
        blocks: ids(&file.blocks, &stored.blocks),
        warning: warning(file, stored),
        ..stored.clone()
    }
}

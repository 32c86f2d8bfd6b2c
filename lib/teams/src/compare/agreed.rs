use std::collections::BTreeSet;

use super::{AgreedState, AgreedTask, AppliedChange, FileExport, FileImport, Folder, StoreTeam, export_files, inboxes};
use crate::layout::Entry;
use crate::names::TaskId;
use crate::status::Status;
use crate::team::ConfigFile;

#[derive(Clone, Copy, Debug)]
pub struct ComparisonInput<'a> {
    /// The last seen records.
    pub seen: Option<&'a AgreedState>,
    /// Changes that the store has accepted since.
    pub applied: &'a [AppliedChange],
    /// The files as they were read.
    pub folder: &'a Folder,
    /// The current store.
    pub store: &'a StoreTeam,
    /// The changes from the files.
    pub import: &'a FileImport,
}

/// The seen records after a sync that could not write the files `unwritten`. Their entries are the values on which file
/// and store agree; all others are those of `export`.
pub fn agreed_state(input: ComparisonInput<'_>, export: &FileExport, unwritten: &BTreeSet<Entry>) -> AgreedState {
    let ComparisonInput {
        seen,
        applied,
        folder,
        store,
        import,
    } = input;
    let mut agreed = export.seen.clone();
    let sent = AppliedChange::sent(applied);
    let before = seen.cloned().unwrap_or_default().after(applied);
    for entry in unwritten {
        match entry {
            Entry::Config(_) => {
                let file = folder.config.as_ref().map(ConfigFile::config);
                let (members, approvals): (BTreeSet<&String>, BTreeSet<&String>) = match file {
                    Some(file) => (
                        file.members.iter().map(|member| &member.agent_id).collect(),
                        file.shutdown_approvals.iter().flatten().collect(),
                    ),
                    None => Default::default(),
                };
                agreed.members.extend(before.members.iter().cloned());
                agreed.approvals.extend(before.approvals.iter().cloned());
                agreed.approvals.extend(import.old_approvals.iter().cloned());
                agreed.members.retain(|handle| members.contains(handle));
                agreed.approvals.retain(|handle| approvals.contains(handle));
            }
            Entry::Inbox(_, handle) => {
                let file = folder.inboxes.get(handle);
                let exported = inboxes::export_inbox(seen, &sent, import, file, store, handle);
                agreed.inboxes.insert(handle.to_string(), exported.seen_unwritten());
            }
            Entry::Task(_, id) => agree_on_task(&before, folder, store, id, &mut agreed),
            Entry::TeamLock(_) | Entry::TaskLock(_) => {}
        }
    }
    agreed
}

/// The values on which file and store agree before a first sync applies a change. With them and the changes applied
/// since, an interrupted first sync can resume.
pub fn agreed_before(folder: &Folder, store: &StoreTeam, import: &FileImport) -> AgreedState {
    // The sync that resumes reports refusals again.
    let import = &FileImport {
        settled: BTreeSet::new(),
        ..import.clone()
    };
    let export = export_files(None, folder, store, import, &AppliedChange::sent(&[]));
    let unwritten = export.writes.keys().chain(&export.removals).cloned().collect();
    let input = ComparisonInput {
        seen: None,
        applied: &[],
        folder,
        store,
        import,
    };
    agreed_state(input, &export, &unwritten)
}

/// Sets each value to that of file and store, or to the last seen one where these differ.
fn agree_on_task(before: &AgreedState, folder: &Folder, store: &StoreTeam, id: &TaskId, agreed: &mut AgreedState) {
    let waits_for = |id: &str| store.tasks.get(id).is_some_and(|task| task.status != Status::Completed);
    let file = folder.tasks.get(id).map(|file| AgreedTask::of(file.task(), waits_for));
    let before = before.tasks.get(id.as_str()).cloned();
    let value = match (file, agreed.tasks.remove(id.as_str()), before) {
        (Some(file), Some(stored), _) if file == stored => Some(stored),
        (Some(file), Some(stored), Some(before)) => Some(merge(file, stored, before)),
        (_, _, before) => before,
    };
    agreed.tasks.extend(value.map(|value| (id.to_string(), value)));
}

fn merge(file: AgreedTask, stored: AgreedTask, before: AgreedTask) -> AgreedTask {
    fn agree<T: PartialEq>(file: T, stored: T, before: T) -> T {
        if file == stored { stored } else { before }
    }
    let dependencies = file.dependencies.union(&stored.dependencies);
    let dependencies = dependencies.filter(|on| {
        let is_in = |task: &AgreedTask| task.dependencies.contains(*on);
        (is_in(&file) && is_in(&stored)) || is_in(&before)
    });
    let dependencies = dependencies.cloned().collect();
    let (status, owner) = agree(
        (file.status, file.owner),
        (stored.status, stored.owner),
        (before.status, before.owner),
    );
    AgreedTask {
        title: agree(file.title, stored.title, before.title),
        description: agree(file.description, stored.description, before.description),
        priority: agree(file.priority, stored.priority, before.priority),
        status,
        owner,
        dependencies,
    }
}

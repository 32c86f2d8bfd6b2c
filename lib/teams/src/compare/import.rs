use std::collections::{HashMap, HashSet};

use super::new_tasks::NewTasks;
use super::sides::{FileImport, Sides};
use super::{AgreedState, Change, Finding, FindingKind, Folder, StoreTeam, config, edges, inboxes, tasks};
use crate::layout::Entry;
use crate::names::TaskId;
use crate::team::ConfigFile;

/// Compares the last seen records, the files, and the store.
pub fn import_files(seen: Option<&AgreedState>, folder: &Folder, store: &StoreTeam) -> FileImport {
    let mut import = FileImport::default();
    let refused = folder.refused.values();
    import.findings.extend(refused.map(|refusal| Finding {
        kind: FindingKind::Unreadable,
        refusal: refusal.clone(),
    }));
    let config_entry = Entry::Config(store.name.clone());
    let file = folder.config.as_ref().map(ConfigFile::config);
    if file.is_none() && seen.is_some() && !folder.refused.contains_key(&config_entry) {
        let message = "the folder of the team is gone; the team stays as it is in the store";
        import.report(FindingKind::Vanished, &config_entry, "", message);
        import.vanished = true;
        return import;
    }
    let stored_tasks = store.task_files();
    let sides = Sides {
        seen,
        folder,
        store,
        stored_tasks: &stored_tasks,
    };
    if let Some(file) = file {
        config::import_members(&sides, file, &mut import);
    }
    tasks::compare(&sides, &mut import);
    let new = NewTasks::of(&sides, &mut import);
    edges::compare(&sides, new, &mut import);
    tasks::import_deletions(&sides, &mut import);
    inboxes::import_messages(&sides, &mut import);
    if let Some(file) = file {
        config::import_approvals(&sides, file, &mut import);
    }
    sort_changes(&mut import.changes);
    import
}

/// How many completed new tasks are created at once, because open tasks and claims are bounded.
const PORTION: usize = 200;

/// Sorts by kind: members, tasks, edges, work, messages, shutdown. Changes that free something precede changes that
/// need it: first new tasks that are completed in the files, in portions, then ends of claims, then lasting claims. The
/// sort is stable, so a claim directly precedes its completion.
fn sort_changes(changes: &mut [Change]) {
    let completed = changes.iter().filter_map(|change| match change {
        Change::Complete(id, _) => Some(id.clone()),
        _ => None,
    });
    let completed: HashSet<TaskId> = completed.collect();
    let created = changes.iter().filter_map(|change| match change {
        Change::CreateTask { id, .. } if completed.contains(id) => Some(id.clone()),
        _ => None,
    });
    let portions: HashMap<TaskId, usize> = created.enumerate().map(|(index, id)| (id, index / PORTION)).collect();
    changes.sort_by_key(|change| match change {
        Change::Join { .. } => (0, 0, 0),
        Change::CreateTask { id, .. } => match portions.get(id) {
            Some(portion) => (1, *portion, 0),
            None => (2, 0, 0),
        },
        Change::EditTask { .. } => (3, 0, 0),
        Change::EditDependencies { .. } => (4, 0, 0),
        Change::Claim(id, _) | Change::Complete(id, _) => match portions.get(id) {
            Some(portion) => (1, *portion, 1),
            None if completed.contains(id) => (5, 0, 0),
            None => (6, 0, 0),
        },
        Change::Release(..) => (5, 0, 0),
        Change::DeleteTask(_) => (7, 0, 0),
        Change::Send { .. } => (8, 0, 0),
        Change::ReadTo(..) => (9, 0, 0),
        Change::RequestShutdown(_) => (10, 0, 0),
        Change::ApproveShutdown(_) => (11, 0, 0),
    });
}

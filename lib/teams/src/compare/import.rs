use std::collections::{HashMap, HashSet};

use super::new_tasks::NewTasks;
use super::sides::{FileImport, Sides};
use super::{AgreedState, Change, Finding, Folder, Kind, StoreTeam, config, edges, inboxes, tasks};
use crate::layout::Entry;
use crate::names::TaskId;
use crate::team::ConfigFile;

/// Compares the last seen records, the files, and the store.
pub fn import_files(seen: Option<&AgreedState>, folder: &Folder, store: &StoreTeam) -> FileImport {
    let mut found = FileImport::default();
    let refused = folder.refused.values();
    found.findings.extend(refused.map(|refusal| Finding {
        kind: Kind::Unreadable,
        refusal: refusal.clone(),
    }));
    let config_entry = Entry::Config(store.name.clone());
    let file = folder.config.as_ref().map(ConfigFile::config);
    if file.is_none() && seen.is_some() && !folder.refused.contains_key(&config_entry) {
        let message = "the folder of the team is gone; the team stays as it is in the store";
        found
            .findings
            .push(Finding::new(Kind::Vanished, &config_entry, "", message));
        found.vanished = true;
        return found;
    }
    let forms = store.task_files();
    let sides = Sides {
        seen,
        folder,
        store,
        forms: &forms,
    };
    if let Some(file) = file {
        config::joins(&sides, file, &mut found);
    }
    tasks::compare(&sides, &mut found);
    let new = NewTasks::of(&sides, &mut found);
    edges::compare(&sides, new, &mut found);
    tasks::deletions(&sides, &mut found);
    inboxes::import_files(&sides, &mut found);
    if let Some(file) = file {
        config::shutdown(&sides, file, &mut found);
    }
    order(&mut found.changes);
    found
}

/// New tasks that are made and ended before the next ones are made: open ones are bounded, and so are claims.
const PORTION: usize = 200;

/// The order: members, tasks, edges, work, messages, the end. Changes that free something come before those that take it: new tasks
/// that are completed in the files, in portions; then all that ends a claim; then claims that last. Equals keep their order, and so a
/// claim is directly before its completion.
fn order(changes: &mut [Change]) {
    let completed = changes.iter().filter_map(|change| match change {
        Change::Complete(id, _) => Some(id.clone()),
        _ => None,
    });
    let completed: HashSet<TaskId> = completed.collect();
    let created = changes.iter().filter_map(|change| match change {
        Change::CreateTask { id, .. } if completed.contains(id) => Some(id.clone()),
        _ => None,
    });
    let portions: HashMap<TaskId, usize> = created.enumerate().map(|(at, id)| (id, at / PORTION)).collect();
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

use super::new_tasks::New;
use super::sides::{Sides, TakeIn};
use super::{Change, Finding, Folder, Kind, Seen, StoreTeam, config, edges, inboxes, tasks};
use crate::layout::Entry;
use crate::team::ConfigFile;

/// Compares what was last seen, the files, and the store.
pub fn take_in(seen: Option<&Seen>, folder: &Folder, store: &StoreTeam) -> TakeIn {
    let mut found = TakeIn::default();
    let refused = folder.refused.values();
    found.findings.extend(refused.map(|what| Finding {
        kind: Kind::Unreadable,
        what: what.clone(),
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
    let new = New::of(&sides, &mut found);
    edges::compare(&sides, new, &mut found);
    tasks::deletions(&sides, &mut found);
    inboxes::take_in(&sides, &mut found);
    if let Some(file) = file {
        config::shutdown(&sides, file, &mut found);
    }
    found.changes.sort_by_key(rank);
    found
}

/// What comes first: members, tasks, edges, work, messages, the end. Equal ranks keep their order.
fn rank(change: &Change) -> u8 {
    match change {
        Change::Join { .. } => 0,
        Change::CreateTask { .. } => 1,
        Change::EditTask { .. } => 2,
        Change::EditDependencies { .. } => 3,
        Change::Claim(..) => 4,
        Change::Complete(..) => 5,
        Change::Release(..) => 6,
        Change::DeleteTask(_) => 7,
        Change::Send { .. } => 8,
        Change::ReadTo(..) => 9,
        Change::RequestShutdown(_) => 10,
        Change::ApproveShutdown(_) => 11,
    }
}

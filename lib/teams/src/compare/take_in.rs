use std::collections::{BTreeMap, BTreeSet};

use super::new_tasks::New;
use super::{Change, Finding, Folder, Kind, Seen, StoreTeam, config, edges, inboxes, tasks};
use crate::layout::Entry;
use crate::names::{Handle, TaskId};
use crate::status::Status;
use crate::task::Task;
use crate::team::ConfigFile;

/// What the files changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakeIn {
    /// In the order in which they are applied: what a change needs is before it.
    pub changes: Vec<Change>,
    /// What is not applied.
    pub findings: Vec<Finding>,
    /// Tasks whose files stay as they are, because nobody knows which side is newer, or because they were refused.
    pub held: BTreeSet<TaskId>,
    /// Messages, by inbox and place, that are done with although the store has none for them.
    pub settled: BTreeSet<(Handle, usize)>,
    /// The folder that was seen is gone: nothing is deleted in the store, and nothing is written.
    pub vanished: bool,
}

impl TakeIn {
    /// The handle of that name, if the login that syncs may speak for it: a member, or one that joins by the files.
    pub(super) fn speaker(&self, store: &StoreTeam, name: &str) -> Option<Handle> {
        // Members are compared first.
        let joining = self.changes.iter().map_while(|change| match change {
            Change::Join { handle, .. } => Some(handle),
            _ => None,
        });
        let ours = store.speaks_for(name);
        ours.or_else(|| joining.into_iter().find(|handle| handle.as_str() == name))
            .cloned()
    }
}

/// What all parts of a comparison look at.
pub(super) struct Sides<'a> {
    pub seen: Option<&'a Seen>,
    pub folder: &'a Folder,
    pub store: &'a StoreTeam,
    /// The store's tasks as files.
    pub forms: &'a BTreeMap<TaskId, Task>,
}

impl Sides<'_> {
    pub fn task(&self, id: &TaskId) -> Entry {
        Entry::Task(self.store.name.clone(), id.clone())
    }

    /// Whether a dependency is there, and completed on neither side. Where it is completed on one, its dependents lose it by the
    /// cascade, or get it back, and not by a change of their own.
    pub fn waits_for(&self, id: &str) -> bool {
        let file = self.folder.tasks.get(id).map(|file| file.task().status);
        let store = self.store.tasks.get(id).map(|task| task.status);
        (file.is_some() || store.is_some()) && file.iter().chain(&store).all(|status| *status != Status::Completed)
    }

    /// Whether a task was there when it was last seen.
    pub fn was_there(&self, id: &str) -> bool {
        self.seen.is_some_and(|seen| seen.tasks.contains_key(id))
    }
}

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

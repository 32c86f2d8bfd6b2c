//! Shared by all parts of a comparison: its input and its findings.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::digest;
use super::{AgreedState, Change, Finding, Folder, StoreTeam};
use crate::layout::{Entry, PathKind, path_kind};
use crate::names::{Handle, TaskId, TeamName};
use crate::status::Status;
use crate::task::Task;

/// Changes in the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileImport {
    /// In the order of application: a change comes after those that it needs.
    pub changes: Vec<Change>,
    /// Changes that are not applied.
    pub findings: Vec<Finding>,
    /// Tasks whose files stay as they are, because it is unknown which side is newer, or because they were refused: here, or by
    /// the store since.
    pub held: BTreeSet<TaskId>,
    /// Messages, by inbox and place, that are done with although the store has none for them.
    pub settled: BTreeSet<(Handle, usize)>,
    /// Messages, by inbox and place, that the store had once: without the last seen records, those before one that it still has. They
    /// are done with, too.
    pub old: BTreeSet<(Handle, usize)>,
    /// Names in `shutdownApprovals` that are older than the first sync: they ask for no shutdown.
    pub old_approvals: Vec<String>,
    /// The folder that was seen is gone: nothing is deleted in the store, and nothing is written.
    pub vanished: bool,
}

impl FileImport {
    /// The files that something is to be taken of, or was not.
    pub fn touched(&self, team: &TeamName) -> BTreeSet<Entry> {
        let mut touched = BTreeSet::new();
        for change in &self.changes {
            let tasks = match change {
                Change::EditDependencies { id, add, remove } => [id].into_iter().chain(add).chain(remove).collect(),
                Change::CreateTask { id, .. } | Change::EditTask { id, .. } => vec![id],
                Change::Claim(id, _) | Change::Complete(id, _) | Change::Release(id, _) | Change::DeleteTask(id) => {
                    vec![id]
                }
                Change::Join { .. } | Change::RequestShutdown(_) | Change::ApproveShutdown(_) => {
                    touched.insert(Entry::Config(team.clone()));
                    continue;
                }
                // An inbox is only added to.
                Change::Send { .. } | Change::ReadTo(..) => continue,
            };
            touched.extend(tasks.into_iter().map(|id| Entry::Task(team.clone(), id.clone())));
        }
        let entries = self
            .findings
            .iter()
            .filter_map(|finding| match path_kind(&finding.refusal.file) {
                PathKind::Ours(entry @ (Entry::Config(_) | Entry::Task(..))) => Some(entry),
                _ => None,
            });
        touched.extend(entries);
        touched
    }

    /// Whether a task is to be deleted.
    pub fn has_deletions(&self) -> bool {
        !self.deletions().is_empty()
    }

    /// The tasks that are to be deleted.
    pub fn deletions(&self) -> BTreeSet<TaskId> {
        let deleted = self.changes.iter().filter_map(|change| match change {
            Change::DeleteTask(id) => Some(id.clone()),
            _ => None,
        });
        deleted.collect()
    }

    /// Whether a message is done with, although the store may have none for it.
    pub(super) fn is_settled(&self, handle: &Handle, at: usize) -> bool {
        let place = (handle.clone(), at);
        self.settled.contains(&place) || self.old.contains(&place)
    }

    /// The messages with this identity are done with, although the store has none for them.
    pub fn settle(&mut self, folder: &Folder, identity: &str) {
        for (handle, inbox) in &folder.inboxes {
            let messages = inbox.messages().iter().enumerate();
            let these = messages.filter(|(_, message)| digest(message) == identity);
            self.settled.extend(these.map(|(at, _)| (handle.clone(), at)));
        }
    }

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

/// The input shared by all parts of a comparison.
pub(super) struct Sides<'a> {
    pub seen: Option<&'a AgreedState>,
    pub folder: &'a Folder,
    pub store: &'a StoreTeam,
    /// The store's tasks as files.
    pub forms: &'a BTreeMap<TaskId, Task>,
}

impl Sides<'_> {
    pub fn task(&self, id: &TaskId) -> Entry {
        Entry::Task(self.store.name.clone(), id.clone())
    }

    /// Whether a dependency is there, and completed on neither side. If it is completed on one, the cascade removes it from its
    /// dependents, or restores it; that is not a change of theirs.
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

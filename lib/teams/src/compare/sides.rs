//! The input and the result that all parts of a comparison share.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::digest;
use super::{AgreedState, Change, Finding, FindingKind, Folder, StoreTeam};
use crate::layout::{Entry, PathKind, path_kind};
use crate::names::{Handle, TaskId, TeamName};
use crate::status::Status;
use crate::task::Task;

/// Changes to import from the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileImport {
    /// In the order of application: a change comes after those that it needs.
    pub changes: Vec<Change>,
    /// Changes that are not applied.
    pub findings: Vec<Finding>,
    /// Tasks whose files are left alone: it is unknown which side is newer, or the comparison or store refused them.
    pub held: BTreeSet<TaskId>,
    /// Messages, by inbox and index, that are never sent although the store does not have them.
    pub settled: BTreeSet<(Handle, usize)>,
    /// Messages, by inbox and index, that the store had once. Without the last seen records, these are the messages
    /// before one that it still has. They are never sent either.
    pub old: BTreeSet<(Handle, usize)>,
    /// Names in `shutdownApprovals` from before the first sync. They do not request a shutdown.
    pub old_approvals: Vec<String>,
    /// Whether a folder that was seen is gone. Then nothing is deleted in the store, and nothing is written.
    pub vanished: bool,
}

impl FileImport {
    pub(super) fn report(
        &mut self,
        kind: FindingKind,
        entry: &Entry,
        field: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.findings.push(Finding::new(kind, entry, field, message));
    }

    /// The files of the changes and the findings, without inboxes.
    pub fn touched(&self, team: &TeamName) -> BTreeSet<Entry> {
        let mut touched = BTreeSet::new();
        for change in &self.changes {
            let tasks = match change {
                Change::EditDependencies { id, add, remove } => [id].into_iter().chain(add).chain(remove).collect(),
                Change::CreateTask { id, .. }
                | Change::EditTask { id, .. }
                | Change::Claim(id, _)
                | Change::Complete(id, _)
                | Change::Release(id, _)
                | Change::DeleteTask(id) => vec![id],
                Change::Join { .. } | Change::RequestShutdown(_) | Change::ApproveShutdown(_) => {
                    touched.insert(Entry::Config(team.clone()));
                    continue;
                }
                // Inboxes only grow.
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

    /// The tasks to delete.
    pub fn deletions(&self) -> BTreeSet<TaskId> {
        let deleted = self.changes.iter().filter_map(|change| match change {
            Change::DeleteTask(id) => Some(id.clone()),
            _ => None,
        });
        deleted.collect()
    }

    /// Whether a message is never sent, even if the store does not have it.
    pub(super) fn is_settled(&self, handle: &Handle, index: usize) -> bool {
        let message = (handle.clone(), index);
        self.settled.contains(&message) || self.old.contains(&message)
    }

    /// Marks the messages with this digest as settled.
    pub fn settle(&mut self, folder: &Folder, identity: &str) {
        for (handle, inbox) in &folder.inboxes {
            let messages = inbox.messages().iter().enumerate();
            let settled = messages.filter(|(_, message)| digest(message) == identity);
            self.settled.extend(settled.map(|(index, _)| (handle.clone(), index)));
        }
    }

    /// The handle with this name, if the login that syncs may speak for it: a member, or one that joins by the files.
    pub(super) fn speaker(&self, store: &StoreTeam, name: &str) -> Option<Handle> {
        // Members are compared first, so they are the first changes.
        let mut joining = self.changes.iter().map_while(|change| match change {
            Change::Join { handle, .. } => Some(handle),
            _ => None,
        });
        store
            .speaks_for(name)
            .or_else(|| joining.find(|handle| handle.as_str() == name))
            .cloned()
    }
}

/// The three sides of a comparison.
pub(super) struct Sides<'a> {
    pub seen: Option<&'a AgreedState>,
    pub folder: &'a Folder,
    pub store: &'a StoreTeam,
    /// The tasks of the store in the form of files.
    pub stored_tasks: &'a BTreeMap<TaskId, Task>,
}

impl Sides<'_> {
    pub fn task_entry(&self, id: &TaskId) -> Entry {
        Entry::Task(self.store.name.clone(), id.clone())
    }

    /// Whether a dependency exists, and is completed on neither side. If it is completed on one side, the cascade
    /// removes it from its dependents, or restores it. That is not a change of the dependents.
    pub fn waits_for(&self, id: &str) -> bool {
        let file = self.folder.tasks.get(id).map(|file| file.task().status);
        let store = self.store.tasks.get(id).map(|task| task.status);
        (file.is_some() || store.is_some()) && file.iter().chain(&store).all(|status| *status != Status::Completed)
    }

    /// Whether the last comparison saw a task.
    pub fn was_seen(&self, id: &str) -> bool {
        self.seen.is_some_and(|seen| seen.tasks.contains_key(id))
    }
}

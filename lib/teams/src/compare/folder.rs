use std::collections::BTreeMap;

use crate::bounds::TASK_FILES;
use crate::layout::{Entry, same_but_for_case};
use crate::message::InboxFile;
use crate::names::{Handle, TaskId, TeamName};
use crate::refusal::Refusal;
use crate::task::TaskFile;
use crate::team::ConfigFile;

/// The files of one team.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// `config.json`, if it can be read.
    pub config: Option<ConfigFile>,
    /// The inboxes that can be read.
    pub inboxes: BTreeMap<Handle, InboxFile>,
    /// The tasks that can be read.
    pub tasks: BTreeMap<TaskId, TaskFile>,
    /// Unreadable entries, and why.
    pub refused: BTreeMap<Entry, Refusal>,
}

impl Folder {
    /// Parses the files of `team`. For each entry, the caller passes its bytes, or why it did not read it (a link, too
    /// large).
    pub fn read(team: &TeamName, files: impl IntoIterator<Item = (Entry, Result<Vec<u8>, Refusal>)>) -> Self {
        let mut folder = Folder::default();
        for (entry, bytes) in files {
            if let Err(refusal) = bytes.and_then(|bytes| folder.add(team, &entry, &bytes)) {
                folder.refused.insert(entry, refusal);
            }
        }
        folder.refuse_other_cases(team);
        folder
    }

    fn add(&mut self, team: &TeamName, entry: &Entry, bytes: &[u8]) -> Result<(), Refusal> {
        match entry {
            Entry::Config(of) if of == team => self.config = Some(ConfigFile::parse(team, bytes)?),
            Entry::Inbox(of, handle) if of == team => {
                let inbox = InboxFile::parse(team, handle, bytes)?;
                self.inboxes.insert(handle.clone(), inbox);
            }
            Entry::Task(of, _) if of == team && self.tasks.len() >= TASK_FILES => {
                let message = format!("more than {TASK_FILES} tasks");
                return Err(Refusal::of_file(entry.path(), message));
            }
            Entry::Task(of, id) if of == team => {
                let task = TaskFile::parse(team, id, bytes)?;
                self.tasks.insert(id.clone(), task);
            }
            _ => {}
        }
        Ok(())
    }

    /// Refuses files whose names differ only in case, because they are one file on other disks.
    fn refuse_other_cases(&mut self, team: &TeamName) {
        let tasks = same_but_for_case(self.tasks.keys(), TaskId::folded);
        let tasks = tasks.into_iter().map(|id| Entry::Task(team.clone(), id.clone()));
        let inboxes = same_but_for_case(self.inboxes.keys(), Handle::folded).into_iter();
        let inboxes = inboxes.map(|handle| Entry::Inbox(team.clone(), handle.clone()));
        let others: Vec<Entry> = tasks.chain(inboxes).collect();
        for entry in others {
            match &entry {
                Entry::Task(_, id) => drop(self.tasks.remove(id)),
                Entry::Inbox(_, handle) => drop(self.inboxes.remove(handle)),
                _ => {}
            }
            let message = "another file has this name in another case";
            self.refused
                .insert(entry.clone(), Refusal::of_file(entry.path(), message));
        }
    }
}

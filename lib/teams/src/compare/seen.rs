use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::status::Status;
use crate::task::Task;

/// The agreement of files and store in the last comparison, as JSON in the git folder. Without it, a sync only adds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgreedState {
    /// Handles.
    pub members: BTreeSet<String>,
    /// `shutdownApprovals` of the file.
    pub approvals: BTreeSet<String>,
    /// Tasks by id.
    pub tasks: BTreeMap<String, AgreedTask>,
    /// Messages by inbox, in the order of the file.
    pub inboxes: BTreeMap<String, Vec<AgreedMessage>>,
}

/// The compared fields of a task. Times, warnings and `blocks` follow from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedTask {
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The word in files.
    pub priority: String,
    /// The word in files.
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Its dependencies that are not completed.
    pub dependencies: BTreeSet<String>,
}

/// A message of an inbox's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgreedMessage {
    /// Its identity in files.
    pub digest: String,
    /// Its number in the store; `None` if the store does not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
}

impl AgreedTask {
    /// The compared fields of a task, with the dependencies for which `waits_for` is true.
    pub(super) fn of(task: &Task, waits_for: impl Fn(&str) -> bool) -> Self {
        let is_open = |id: &&String| task.status != Status::Completed && waits_for(id);
        Self {
            title: task.title.clone(),
            description: task.description.clone(),
            priority: task.priority.as_str().to_owned(),
            status: task.status.as_str().to_owned(),
            owner: task.owner.clone(),
            dependencies: task.dependencies.iter().filter(is_open).cloned().collect(),
        }
    }

    /// Status and owner.
    pub(super) fn state(&self) -> (&str, Option<&str>) {
        (&self.status, self.owner.as_deref())
    }
}

/// The numbers that the store gave to messages of the files, by the digest of [`super::Change::Send`].
pub type SentNumbers = HashMap<String, VecDeque<u64>>;

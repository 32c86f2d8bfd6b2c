use serde::{Deserialize, Serialize};

use super::{AgreedMessage, AgreedState, AgreedTask, Change, Recipient, SentNumbers};
use crate::status::Status;

/// A change from the files that the store accepted. It is kept after each call, until [`AgreedState`] is stored, so
/// that an interrupted sync does nothing twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppliedChange {
    /// A task was created.
    Created { id: String, task: AgreedTask },
    /// A message was sent.
    Sent {
        /// The inbox with the message; `None` for a broadcast.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inbox: Option<String>,
        /// Its identity in files.
        digest: String,
        /// Its number in the store.
        sequence: u64,
    },
}

impl AppliedChange {
    /// The record of a change. `sequence` is the number of a message in the store.
    pub fn of(change: &Change, sequence: Option<u64>) -> Option<Self> {
        match change {
            Change::CreateTask {
                id,
                title,
                description,
                priority,
                dependencies,
            } => Some(AppliedChange::Created {
                id: id.to_string(),
                task: AgreedTask {
                    title: title.clone(),
                    description: description.clone(),
                    priority: priority.as_str().to_owned(),
                    status: Status::Pending.as_str().to_owned(),
                    owner: None,
                    dependencies: dependencies.iter().map(ToString::to_string).collect(),
                },
            }),
            Change::Send { to, digest, .. } => Some(AppliedChange::Sent {
                inbox: match to {
                    Recipient::One(handle) => Some(handle.to_string()),
                    Recipient::All => None,
                },
                digest: digest.clone(),
                sequence: sequence?,
            }),
            _ => None,
        }
    }

    /// The numbers of the messages that were sent.
    pub fn sent(changes: &[AppliedChange]) -> SentNumbers {
        let mut numbers = SentNumbers::new();
        for change in changes {
            if let AppliedChange::Sent { digest, sequence, .. } = change {
                numbers.entry(digest.clone()).or_default().push_back(*sequence);
            }
        }
        numbers
    }
}

impl AgreedState {
    /// The seen records for [`super::export_files`] after `changes`. They have the created tasks, so that one whose
    /// next step was refused is not a new task the next time. The message numbers come from [`AppliedChange::sent`].
    pub fn with_created(mut self, changes: &[AppliedChange]) -> AgreedState {
        for change in changes {
            if let AppliedChange::Created { id, task } = change {
                self.tasks.insert(id.clone(), task.clone());
            }
        }
        self
    }

    /// The seen records for [`super::import_files`] after `changes`.
    pub fn after(&self, changes: &[AppliedChange]) -> AgreedState {
        let mut seen = self.clone();
        for change in changes {
            match change {
                AppliedChange::Created { id, task } => drop(seen.tasks.insert(id.clone(), task.clone())),
                AppliedChange::Sent {
                    inbox,
                    digest,
                    sequence,
                } => {
                    let message = AgreedMessage {
                        digest: digest.clone(),
                        sequence: Some(*sequence),
                    };
                    match inbox {
                        Some(inbox) => seen.inboxes.entry(inbox.clone()).or_default().push(message),
                        // Each inbox has a copy.
                        None => {
                            seen.inboxes.entry(crate::texts::BROADCAST.to_owned()).or_default();
                            seen.inboxes.values_mut().for_each(|inbox| inbox.push(message.clone()));
                        }
                    }
                }
            }
        }
        seen
    }
}

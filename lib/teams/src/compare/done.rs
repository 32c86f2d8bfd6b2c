use serde::{Deserialize, Serialize};

use super::{AgreedMessage, AgreedState, AgreedTask, Change, Recipient, SentNumbers};
use crate::status::Status;

/// Changes that the store accepted from the files: kept after each call until [`AgreedState`] is, so that a sync that is cut off does
/// nothing twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AppliedChange {
    /// A task was created.
    Created { id: String, task: AgreedTask },
    /// A message was sent.
    Sent {
        /// The inbox that has it; none for a broadcast.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inbox: Option<String>,
        /// Its identity in files.
        digest: String,
        /// Its number in the store.
        sequence: u64,
    },
}

impl AppliedChange {
    /// The record of a change: of a message with its number in the store.
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
    pub fn sent(done: &[AppliedChange]) -> SentNumbers {
        let mut sent = SentNumbers::new();
        for done in done {
            if let AppliedChange::Sent { digest, sequence, .. } = done {
                sent.entry(digest.clone()).or_default().push_back(*sequence);
            }
        }
        sent
    }
}

impl AgreedState {
    /// The seen records for [`super::export_files`] after the steps `done`: created tasks are known, so that one whose next step was
    /// refused is not foreign the next time. Messages have their numbers by [`AppliedChange::sent`].
    pub fn with_created(mut self, done: &[AppliedChange]) -> AgreedState {
        for done in done {
            if let AppliedChange::Created { id, task } = done {
                self.tasks.insert(id.clone(), task.clone());
            }
        }
        self
    }

    /// The seen records for [`super::import_files`] after the steps `done`. [`super::export_files`] takes [`AgreedState::with_created`], and
    /// [`AppliedChange::sent`].
    pub fn after(&self, done: &[AppliedChange]) -> AgreedState {
        let mut seen = self.clone();
        for done in done {
            match done {
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

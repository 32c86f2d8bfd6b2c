use serde::{Deserialize, Serialize};

use super::{Change, Seen, SeenMessage, SeenTask, Sent, To};
use crate::status::Status;

/// What the store took of the files: kept after each call until [`Seen`] is, so that a sync that is cut off does nothing twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// A task was created.
    Created {
        id: String,
        /// What was created.
        task: SeenTask,
    },
    /// A message was sent.
    Sent {
        /// Whose inbox has it; none for a broadcast.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inbox: Option<String>,
        /// Its identity in files.
        digest: String,
        /// Its number in the store.
        sequence: u64,
    },
}

impl Done {
    /// What is kept of a change: of a message with its number in the store.
    pub fn of(change: &Change, sequence: Option<u64>) -> Option<Self> {
        match change {
            Change::CreateTask {
                id,
                title,
                description,
                priority,
                dependencies,
            } => Some(Done::Created {
                id: id.to_string(),
                task: SeenTask {
                    title: title.clone(),
                    description: description.clone(),
                    priority: priority.as_str().to_owned(),
                    status: Status::Pending.as_str().to_owned(),
                    owner: None,
                    dependencies: dependencies.iter().map(ToString::to_string).collect(),
                },
            }),
            Change::Send { to, digest, .. } => Some(Done::Sent {
                inbox: match to {
                    To::One(handle) => Some(handle.to_string()),
                    To::All => None,
                },
                digest: digest.clone(),
                sequence: sequence?,
            }),
            _ => None,
        }
    }

    /// The numbers of the messages that were sent.
    pub fn sent(done: &[Done]) -> Sent {
        let mut sent = Sent::new();
        for done in done {
            if let Done::Sent { digest, sequence, .. } = done {
                sent.entry(digest.clone()).or_default().push_back(*sequence);
            }
        }
        sent
    }
}

impl Seen {
    /// What is seen for [`super::give_out`], where `done` was done since: tasks that were created are known, so that one whose next
    /// step was refused is not a stranger the next time. Messages have their numbers by [`Done::sent`].
    pub fn with_created(mut self, done: &[Done]) -> Seen {
        for done in done {
            if let Done::Created { id, task } = done {
                self.tasks.insert(id.clone(), task.clone());
            }
        }
        self
    }

    /// What is seen for [`super::take_in`], where `done` was done since. [`super::give_out`] takes [`Seen::with_created`], and
    /// [`Done::sent`].
    pub fn after(&self, done: &[Done]) -> Seen {
        let mut seen = self.clone();
        for done in done {
            match done {
                Done::Created { id, task } => drop(seen.tasks.insert(id.clone(), task.clone())),
                Done::Sent {
                    inbox,
                    digest,
                    sequence,
                } => {
                    let message = SeenMessage {
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

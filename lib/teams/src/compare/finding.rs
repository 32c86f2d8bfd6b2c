use crate::layout::Entry;
use crate::message::{Message, MessageType};
use crate::names::{Handle, TaskId};
use crate::refusal::Refusal;
use crate::status::Priority;

/// A change that the files request from the store. Each is one call as a handle, by the same scripts as other calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A member that only the file has: a handle of the login that syncs.
    Join {
        handle: Handle,
        /// Its name for people.
        name: String,
        /// For example, `worker`.
        kind: String,
    },
    /// A task that only the file has. It is created as pending.
    CreateTask {
        id: TaskId,
        title: String,
        description: Option<String>,
        priority: Priority,
        /// These tasks exist when the change is applied.
        dependencies: Vec<TaskId>,
    },
    /// Members that only the file has changed. `None` leaves a member unchanged.
    EditTask {
        id: TaskId,
        title: Option<String>,
        /// The new description; `Some(None)` removes it.
        description: Option<Option<String>>,
        priority: Option<Priority>,
    },
    /// Edges that the file has added and removed.
    EditDependencies {
        id: TaskId,
        add: Vec<TaskId>,
        remove: Vec<TaskId>,
    },
    /// `pending` -> `in_progress`.
    Claim(TaskId, Handle),
    /// `in_progress` -> `completed`.
    Complete(TaskId, Handle),
    /// The plugin's reassignment, with its warning: the owner releases the task.
    Release(TaskId, Handle),
    /// The file was deleted, and the task has not changed.
    DeleteTask(TaskId),
    /// A message that only the files have.
    Send {
        from: Handle,
        to: Recipient,
        kind: MessageType,
        message: String,
        summary: Option<String>,
        /// Its identity in files, and part of its request key.
        digest: String,
    },
    /// The inbox is read up to this message.
    ReadTo(Handle, u64),
    /// The first new name in `shutdownApprovals`, if no request is open.
    RequestShutdown(Handle),
    /// A new name in `shutdownApprovals`.
    ApproveShutdown(Handle),
}

/// The recipient of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipient {
    One(Handle),
    /// All but the sender.
    All,
}

/// A change that is not applied, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    /// File, field and sentence.
    pub refusal: Refusal,
}

/// Why something is not applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// The file cannot be read: JSON, schema, bounds, names. It is not overwritten.
    Unreadable,
    /// The store has changed it too. The store wins.
    Conflict,
    /// Both differ, and the last seen value is lost. Both stay.
    Unknown,
    /// There is no such transition of the status.
    Transition,
    Cycle,
    /// The handle belongs to another login, or to none.
    Foreign,
    /// A task that it names does not exist.
    Missing,
    /// It exceeds a bound of the store.
    Bounds,
    /// Files cannot change this.
    NotByFile,
    /// The folder is gone.
    Vanished,
    /// The store's rules refused the call.
    Refused,
}

impl Finding {
    pub(super) fn new(kind: FindingKind, entry: &Entry, field: impl Into<String>, message: impl Into<String>) -> Self {
        let refusal = Refusal {
            file: entry.path(),
            field: field.into(),
            message: message.into(),
        };
        Self { kind, refusal }
    }
}

/// A message's identity in files, where messages have no ids.
pub(super) fn digest(message: &Message) -> String {
    use sha2::{Digest, Sha256};
    let identity = (
        &message.from,
        &message.to,
        message.kind.as_str(),
        message.timestamp.as_str(),
        &message.message,
    );
    let identity = serde_json::to_string(&identity).expect("texts have a JSON form");
    let hash = Sha256::digest(identity);
    hash[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

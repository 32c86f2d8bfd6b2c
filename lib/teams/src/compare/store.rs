use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::message::{Message, MessageType};
use crate::names::{Handle, TaskId, TeamName};
use crate::status::{Priority, Status};
use crate::task::Task;
use crate::team::{TeamConfig, TeamMember};
use crate::texts::{BROADCAST, dependencies_not_met, reassigned};
use crate::time::Time;

/// A team as the store has it.
#[derive(Clone, Debug)]
pub struct StoreTeam {
    pub name: TeamName,
    /// When it was created.
    pub created: Time,
    pub leader: Handle,
    pub description: Option<String>,
    pub members: BTreeMap<Handle, StoreMember>,
    /// Members that agreed to end.
    pub approvals: BTreeSet<Handle>,
    /// Whether a request to end is open.
    pub shutdown_open: bool,
    /// Whether it has ended.
    pub closed: bool,
    pub tasks: BTreeMap<TaskId, StoreTask>,
    /// Its messages, by sequence.
    pub messages: BTreeMap<u64, StoreMessage>,
}

#[derive(Clone, Debug)]
pub struct StoreMember {
    /// A name for people.
    pub name: String,
    /// `worker`, say.
    pub kind: String,
    /// When it joined.
    pub joined_at: Time,
    /// The sequence at which it joined: broadcasts after it are for this member.
    pub joined: u64,
    /// The sequence up to which it has read.
    pub read_to: u64,
    /// Whether the handle is bound to the login that syncs.
    pub ours: bool,
}

#[derive(Clone, Debug)]
pub struct StoreTask {
    pub title: String,
    /// Work to do.
    pub description: Option<String>,
    /// How urgent it is.
    pub priority: Priority,
    /// Where it stands.
    pub status: Status,
    /// When it was created.
    pub created_at: Time,
    /// When it was last changed.
    pub updated_at: Option<Time>,
    /// When it was claimed.
    pub claimed_at: Option<Time>,
    /// When it was completed.
    pub completed_at: Option<Time>,
    /// The owner; none if a claim has expired or was released.
    pub owner: Option<Handle>,
    pub previous_owner: Option<Handle>,
    /// Whether its claim expired and no member has claimed it since: the former owner may still complete it.
    pub lapsed: bool,
    /// Its open dependencies, each once, in their given order.
    pub dependencies: Vec<TaskId>,
    pub met: Vec<TaskId>,
    /// Its dependents, in their given order, as far as the store lists them. The dependencies of the others decide.
    pub blocks: Vec<TaskId>,
}

#[derive(Clone, Debug)]
pub struct StoreMessage {
    pub from: Handle,
    /// The recipients; none for a broadcast.
    pub to: Vec<Handle>,
    /// The members at that time, of a broadcast.
    pub recipients: Vec<Handle>,
    /// The type in files: `shutdown_rejected` is [`MessageType::Plain`].
    pub kind: MessageType,
    pub message: String,
    /// The text in short.
    pub summary: Option<String>,
    /// When it was sent.
    pub timestamp: Time,
}

impl StoreTeam {
    /// Whether the login that syncs may speak for a handle.
    pub(super) fn speaks_for(&self, handle: &str) -> Option<&Handle> {
        let (handle, member) = self.members.get_key_value(handle)?;
        member.ours.then_some(handle)
    }

    /// Every task as its file has it.
    pub fn task_files(&self) -> BTreeMap<TaskId, Task> {
        let mut blocks: HashMap<&TaskId, Vec<String>> = HashMap::new();
        // A completed task keeps its `blocks`, and is in those of no other task.
        for (id, task) in self.tasks.iter().filter(|(_, task)| task.status != Status::Completed) {
            for dependency in task.dependencies.iter().chain(&task.met) {
                blocks.entry(dependency).or_default().push(id.to_string());
            }
        }
        let form = |(id, task): (&TaskId, &StoreTask)| {
            let mut blocks = blocks.remove(id).unwrap_or_default();
            in_order(&mut blocks, task.blocks.iter().map(TaskId::as_str));
            (id.clone(), task.file(id, blocks))
        };
        self.tasks.iter().map(form).collect()
    }

    /// The configuration as a new file has it.
    pub fn config_file(&self) -> TeamConfig {
        let member = |(handle, member): (&Handle, &StoreMember)| TeamMember {
            agent_id: handle.to_string(),
            agent_name: member.name.clone(),
            agent_type: member.kind.clone(),
            joined_at: member.joined_at.clone(),
        };
        // The plugin's leader is the first member.
        let (leader, others): (Vec<_>, Vec<_>) = self.members.iter().partition(|(handle, _)| **handle == self.leader);
        TeamConfig {
            name: self.name.to_string(),
            created: self.created.clone(),
            leader: self.leader.to_string(),
            members: leader.into_iter().chain(others).map(member).collect(),
            shutdown_approvals: Some(self.approvals_in_file()).filter(|approvals| !approvals.is_empty()),
            description: self.description.clone(),
        }
    }

    /// Where the plugin finds the leader in this list, it deletes the team: so the leader is in it only once the team has ended.
    pub(super) fn approvals_in_file(&self) -> Vec<String> {
        let shown = |handle: &&Handle| self.closed || **handle != self.leader;
        self.approvals.iter().filter(shown).map(Handle::to_string).collect()
    }

    /// The messages for a member, as its inbox has them.
    pub(super) fn inbox(&self, handle: &Handle) -> Vec<(u64, Message)> {
        let Some(member) = self.members.get(handle) else {
            return Vec::new();
        };
        let is_for = |(sequence, message): &(&u64, &StoreMessage)| {
            if message.to.is_empty() {
                **sequence > member.joined && message.from != *handle
            } else {
                message.to.contains(handle)
            }
        };
        let messages = self.messages.iter().filter(is_for);
        messages
            .map(|(sequence, message)| (*sequence, message.file(handle, *sequence <= member.read_to)))
            .collect()
    }
}

/// Sorts ids so that those of `order` come first, in that order.
pub(super) fn in_order<'a, T: AsRef<str>>(ids: &mut [T], order: impl Iterator<Item = &'a str>) {
    let places: HashMap<&str, usize> = order.zip(0_usize..).collect();
    ids.sort_by_key(|id| places.get(id.as_ref()).copied().unwrap_or(usize::MAX));
}

impl StoreTask {
    /// As its file has it: the plugin can claim nothing but `pending`, so a task in progress without owner becomes that, with the
    /// plugin's warning for it.
    pub fn file(&self, id: &TaskId, blocks: Vec<String>) -> Task {
        let unowned = self.status == Status::InProgress && self.owner.is_none();
        let warning = match (self.status, &self.owner, &self.previous_owner) {
            (Status::InProgress, None, Some(previous)) => Some(reassigned(previous.as_str())),
            (Status::InProgress | Status::Completed, Some(_), _) if !self.dependencies.is_empty() => {
                Some(dependencies_not_met(id.as_str()))
            }
            _ => None,
        };
        Task {
            id: id.to_string(),
            title: self.title.clone(),
            description: self.description.clone(),
            priority: self.priority,
            status: if unowned { Status::Pending } else { self.status },
            created_at: self.created_at.clone(),
            updated_at: self.updated_at.clone(),
            owner: self.owner.as_ref().map(Handle::to_string),
            claimed_at: self.claimed_at.clone().filter(|_| !unowned),
            completed_at: self.completed_at.clone(),
            dependencies: self.dependencies.iter().map(TaskId::to_string).collect(),
            blocks,
            warning,
        }
    }
}

impl StoreMessage {
    /// As the inbox of a recipient has it.
    pub fn file(&self, inbox: &Handle, read: bool) -> Message {
        let recipients = match &self.to[..] {
            [] => Some(&self.recipients),
            [_] => None,
            _ => Some(&self.to),
        };
        Message {
            from: self.from.to_string(),
            to: if self.to.is_empty() {
                BROADCAST.to_owned()
            } else {
                inbox.to_string()
            },
            message: self.message.clone(),
            kind: self.kind,
            timestamp: self.timestamp.clone(),
            read,
            summary: self.summary.clone(),
            recipients: recipients.map(|handles| handles.iter().map(Handle::to_string).collect()),
        }
    }
}

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::message::{Message, MessageType};
use crate::names::{Handle, TaskId, TeamName};
use crate::status::{Priority, Status};
use crate::task::Task;
use crate::team::{TeamConfig, TeamMember};
use crate::texts::{BROADCAST, dependencies_not_met, reassigned};
use crate::time::Time;

#[derive(Clone, Debug)]
pub struct StoreTeam {
    pub name: TeamName,
    pub created: Time,
    pub leader: Handle,
    pub description: Option<String>,
    pub members: BTreeMap<Handle, StoreMember>,
    /// Members that approved the shutdown.
    pub approvals: BTreeSet<Handle>,
    /// Whether a shutdown request is open.
    pub shutdown_open: bool,
    /// Whether the team has ended.
    pub closed: bool,
    pub tasks: BTreeMap<TaskId, StoreTask>,
    /// Messages by sequence.
    pub messages: BTreeMap<u64, StoreMessage>,
}

#[derive(Clone, Debug)]
pub struct StoreMember {
    /// A name for people.
    pub name: String,
    /// For example, `worker`.
    pub kind: String,
    pub joined_at: Time,
    /// The sequence at which it joined. Later broadcasts are for this member.
    pub joined: u64,
    /// The sequence up to which it has read.
    pub read_to: u64,
    /// Whether the handle is bound to the login that syncs.
    pub ours: bool,
}

#[derive(Clone, Debug)]
pub struct StoreTask {
    pub title: String,
    pub description: Option<String>,
    pub priority: Priority,
    pub status: Status,
    pub created_at: Time,
    pub updated_at: Option<Time>,
    pub claimed_at: Option<Time>,
    pub completed_at: Option<Time>,
    /// The owner; `None` if the claim has expired or was released.
    pub owner: Option<Handle>,
    pub previous_owner: Option<Handle>,
    /// Whether its claim expired and no member has claimed it since: the former owner may still complete it.
    pub lapsed: bool,
    /// Its open dependencies, each once, in their original order.
    pub dependencies: Vec<TaskId>,
    /// Its completed dependencies.
    pub met: Vec<TaskId>,
    /// The order of its dependents. Which tasks these are follows from the dependencies of all tasks.
    pub blocks: Vec<TaskId>,
}

#[derive(Clone, Debug)]
pub struct StoreMessage {
    pub from: Handle,
    /// The recipients; empty for a broadcast.
    pub to: Vec<Handle>,
    /// For a broadcast, the members at that time.
    pub recipients: Vec<Handle>,
    /// The type in files: `shutdown_rejected` is [`MessageType::Plain`].
    pub kind: MessageType,
    pub message: String,
    pub summary: Option<String>,
    /// When it was sent.
    pub timestamp: Time,
}

impl StoreTeam {
    /// The handle, if the login that syncs may speak for it.
    pub(super) fn speaks_for(&self, handle: &str) -> Option<&Handle> {
        let (handle, member) = self.members.get_key_value(handle)?;
        member.ours.then_some(handle)
    }

    /// All tasks in the form of files.
    pub fn task_files(&self) -> BTreeMap<TaskId, Task> {
        let mut blocks: HashMap<&TaskId, Vec<String>> = HashMap::new();
        // A completed task keeps its `blocks`, but is not in those of other tasks.
        for (id, task) in self.tasks.iter().filter(|(_, task)| task.status != Status::Completed) {
            for dependency in task.dependencies.iter().chain(&task.met) {
                blocks.entry(dependency).or_default().push(id.to_string());
            }
        }
        let to_file = |(id, task): (&TaskId, &StoreTask)| {
            let mut blocks = blocks.remove(id).unwrap_or_default();
            sort_like(&mut blocks, task.blocks.iter().map(TaskId::as_str));
            (id.clone(), task.file(id, blocks))
        };
        self.tasks.iter().map(to_file).collect()
    }

    /// The configuration of a new file.
    pub(super) fn config_file(&self) -> TeamConfig {
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

    /// The plugin deletes the team if it finds the leader in this list. So only a closed team has its leader in it.
    fn approvals_in_file(&self) -> Vec<String> {
        let is_in_file = |handle: &&Handle| self.closed || **handle != self.leader;
        self.approvals
            .iter()
            .filter(is_in_file)
            .map(Handle::to_string)
            .collect()
    }

    /// The messages in the inbox of a member, by sequence.
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
pub(super) fn sort_like<'a, T: AsRef<str>>(ids: &mut [T], order: impl Iterator<Item = &'a str>) {
    let positions: HashMap<&str, usize> = order.zip(0_usize..).collect();
    ids.sort_by_key(|id| positions.get(id.as_ref()).copied().unwrap_or(usize::MAX));
}

impl StoreTask {
    /// The task in the form of its file. The plugin can only claim `pending` tasks, so a task in progress without an
    /// owner becomes that, with the plugin's warning.
    pub fn file(&self, id: &TaskId, blocks: Vec<String>) -> Task {
        let is_unowned = self.status == Status::InProgress && self.owner.is_none();
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
            status: if is_unowned { Status::Pending } else { self.status },
            created_at: self.created_at.clone(),
            updated_at: self.updated_at.clone(),
            owner: self.owner.as_ref().map(Handle::to_string),
            claimed_at: self.claimed_at.clone().filter(|_| !is_unowned),
            completed_at: self.completed_at.clone(),
            dependencies: self.dependencies.iter().map(TaskId::to_string).collect(),
            blocks,
            warning,
        }
    }
}

impl StoreMessage {
    /// The message in the inbox of a recipient.
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

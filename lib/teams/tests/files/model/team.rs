//! The team: its members, tasks and messages.

use std::collections::BTreeSet;

use coord_teams::message::MessageType;
use coord_teams::status::{Priority, Status};
use coord_teams::texts::{BROADCAST, dependencies_not_met, reassigned};

#[derive(Clone, Debug)]
pub struct Team {
    pub(super) name: String,
    pub(super) leader: String,
    pub(super) members: Vec<String>,
    pub(super) tasks: Vec<ModelTask>,
    pub(super) created: u64,
    pub(super) mail: Vec<Mail>,
    pub(super) approvals: BTreeSet<String>,
}

impl Team {
    /// A team whose leader is its first member.
    pub fn new(name: &str, leader: &str) -> Self {
        Self {
            name: name.to_owned(),
            leader: leader.to_owned(),
            members: vec![leader.to_owned()],
            tasks: Vec::new(),
            created: 0,
            mail: Vec::new(),
            approvals: BTreeSet::new(),
        }
    }

    pub fn join(&mut self, handle: &str) -> Result<(), String> {
        if self.members.iter().any(|member| member.eq_ignore_ascii_case(handle)) {
            return Err(coord_teams::texts::member_exists(handle, &self.name));
        }
        self.members.push(handle.to_owned());
        Ok(())
    }

    /// The members, in the order of joining.
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// Nobody acts who is not a member.
    pub(super) fn member(&self, handle: &str) -> Result<(), String> {
        if self.members.iter().any(|member| member == handle) {
            return Ok(());
        }
        Err(format!("\"{handle}\" is not a member of team \"{}\"", self.name))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelTask {
    /// `t1`, `t2`, ...
    pub id: String,
    pub title: String,
    pub priority: Priority,
    /// The status; in files and for the plugin's tools it is [`Self::shown_status`].
    pub status: Status,
    pub owner: Option<String>,
    pub previous: Option<String>,
    pub dependencies: BTreeSet<String>,
    pub met: BTreeSet<String>,
}

impl ModelTask {
    /// `pending` for a task in progress without an owner, so that it can be claimed.
    pub fn shown_status(&self) -> Status {
        match (self.status, &self.owner) {
            (Status::InProgress, None) => Status::Pending,
            (status, _) => status,
        }
    }

    /// The sentence that follows from its state.
    pub fn warning(&self) -> Option<String> {
        match (self.status, &self.owner, &self.previous) {
            (Status::InProgress | Status::Completed, Some(_), _) if !self.dependencies.is_empty() => {
                Some(dependencies_not_met(&self.id))
            }
            (Status::InProgress, None, Some(previous)) => Some(reassigned(previous)),
            _ => None,
        }
    }
}

/// A message, stored once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    pub from: String,
    /// A handle, or `broadcast`.
    pub to: String,
    pub kind: MessageType,
    pub message: String,
    /// The members at that time.
    pub members: Vec<String>,
    /// Members that have read it.
    pub read: BTreeSet<String>,
}

impl Mail {
    pub(super) fn is_for(&self, handle: &str) -> bool {
        if self.to == BROADCAST {
            self.from != handle && self.members.iter().any(|member| member == handle)
        } else {
            self.to == handle
        }
    }
}

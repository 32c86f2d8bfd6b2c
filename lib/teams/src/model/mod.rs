//! The documented rules in memory, as simple as they can be, to compare scripts and recorded runs with. One team, no
//! leases, no clock.

mod messages;
mod shutdown;
mod tasks;

use std::collections::BTreeSet;

pub use messages::Mail;
pub use tasks::{Edit, ModelTask};

#[derive(Clone, Debug)]
pub struct Team {
    name: String,
    leader: String,
    members: Vec<String>,
    tasks: Vec<ModelTask>,
    created: u64,
    mail: Vec<Mail>,
    approvals: BTreeSet<String>,
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

    /// A new member.
    pub fn join(&mut self, handle: &str) -> Result<(), String> {
        if self.members.iter().any(|member| member.eq_ignore_ascii_case(handle)) {
            return Err(crate::texts::member_exists(handle, &self.name));
        }
        self.members.push(handle.to_owned());
        Ok(())
    }

    /// The members, in the order of joining.
    pub fn members(&self) -> &[String] {
        &self.members
    }

    /// Nobody acts who is no member.
    fn member(&self, handle: &str) -> Result<(), String> {
        if self.members.iter().any(|member| member == handle) {
            return Ok(());
        }
        Err(format!("\"{handle}\" is not a member of team \"{}\"", self.name))
    }
}

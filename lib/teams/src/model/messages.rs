use std::collections::BTreeSet;

use super::Team;
use crate::message::MessageType;
use crate::texts::{BROADCAST, no_recipient};

/// A message, stored once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The sender.
    pub from: String,
    /// A handle, or `broadcast`.
    pub to: String,
    /// The type.
    pub kind: MessageType,
    /// The text.
    pub message: String,
    /// The members at that time.
    pub members: Vec<String>,
    /// Members that have read it.
    pub read: BTreeSet<String>,
}

impl Mail {
    fn is_for(&self, handle: &str) -> bool {
        if self.to == BROADCAST {
            self.from != handle && self.members.iter().any(|member| member == handle)
        } else {
            self.to == handle
        }
    }
}

impl Team {
    /// A message to a member.
    pub fn send(&mut self, from: &str, to: &str, kind: MessageType, message: &str) -> Result<&Mail, String> {
        if !self.members.iter().any(|member| member == to) {
            return Err(no_recipient(to, &self.name));
        }
        self.member(from)?;
        Ok(self.store(from, to, kind, message))
    }

    /// A message to all but the sender.
    pub fn broadcast(&mut self, from: &str, message: &str) -> Result<&Mail, String> {
        self.member(from)?;
        Ok(self.store(from, BROADCAST, MessageType::Plain, message))
    }

    pub(super) fn store(&mut self, from: &str, to: &str, kind: MessageType, message: &str) -> &Mail {
        self.mail.push(Mail {
            from: from.to_owned(),
            to: to.to_owned(),
            kind,
            message: message.to_owned(),
            members: self.members.clone(),
            read: BTreeSet::new(),
        });
        &self.mail[self.mail.len() - 1]
    }

    /// The unread messages of a member, as they were before; marks them as read.
    pub fn read(&mut self, handle: &str) -> Result<Vec<Mail>, String> {
        self.member(handle)?;
        let unread = |mail: &&mut Mail| mail.is_for(handle) && !mail.read.contains(handle);
        let take = |mail: &mut Mail| {
            let before = mail.clone();
            mail.read.insert(handle.to_owned());
            before
        };
        Ok(self.mail.iter_mut().filter(unread).map(take).collect())
    }

    /// All messages to a member, the oldest first.
    pub fn inbox(&self, handle: &str) -> Vec<&Mail> {
        self.mail.iter().filter(|mail| mail.is_for(handle)).collect()
    }
}

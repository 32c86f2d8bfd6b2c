use std::collections::BTreeSet;

use super::team::{Mail, Team};
use coord_teams::message::MessageType;
use coord_teams::texts::{BROADCAST, no_recipient};

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

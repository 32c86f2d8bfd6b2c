use super::team::Team;
use coord_teams::message::MessageType;
use coord_teams::texts::{shutdown_approved, shutdown_requested};

impl Team {
    /// A request, which includes its author's approval; the leader is notified.
    pub fn request_shutdown(&mut self, handle: &str) -> Result<(), String> {
        self.member(handle)?;
        self.approvals.insert(handle.to_owned());
        if handle != self.leader {
            let leader = self.leader.clone();
            self.store(
                handle,
                &leader,
                MessageType::ShutdownRequest,
                &shutdown_requested(handle),
            );
        }
        Ok(())
    }

    /// An approval; earlier approvers are notified.
    pub fn approve_shutdown(&mut self, handle: &str) -> Result<(), String> {
        self.member(handle)?;
        self.approvals.insert(handle.to_owned());
        let others: Vec<_> = self
            .approvals
            .iter()
            .filter(|other| *other != handle)
            .cloned()
            .collect();
        for other in others {
            self.store(
                handle,
                &other,
                MessageType::ShutdownApproved,
                &shutdown_approved(handle),
            );
        }
        Ok(())
    }

    /// The members that have approved.
    pub fn approvals(&self) -> impl Iterator<Item = &str> {
        self.approvals.iter().map(String::as_str)
    }
}

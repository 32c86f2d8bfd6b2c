//! Pending items for an agent in its teams: a part of every response to a member.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

wire! {
    /// Pending items for the caller in a team. Absent fields do not apply.
    #[derive(Default)]
    pub struct Waiting {
        /// Number of messages that the caller has not confirmed; absent for a caller that is not a member.
        pub unread: maybe u64,
        /// The open shutdown that asks the caller, until the caller has answered.
        pub shutdown: maybe PendingShutdown,
    }

    /// An open shutdown, as its recipients see it.
    pub struct PendingShutdown {
        /// Its id.
        pub id: String,
        /// The member that is asked to stop; absent for the team.
        pub target: maybe String,
        /// Handle of the author.
        pub by: String,
        /// Why.
        pub reason: String,
        /// When it may be forced, ISO 8601.
        pub respond_by: String,
    }
}

/// Pending items for the caller in one of its teams.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct Membership {
    /// The team, in lower case.
    pub team: String,
    /// The caller's handle.
    pub handle: String,
    /// Pending items.
    #[serde(flatten)]
    pub waiting: Waiting,
}

impl Waiting {
    /// Warnings for the caller, each with a code and a colon in front. `membership` is the caller's handle and team,
    /// for a response that covers several teams.
    pub fn warnings(&self, membership: Option<(&str, &str)>) -> Vec<String> {
        let you = match membership {
            Some((handle, team)) => format!("you, '{handle}' of team '{team}',"),
            None => "you".to_owned(),
        };
        let shutdown = self.shutdown.as_ref().map(|shutdown| {
            format!(
                "SHUTDOWN_REQUESTED: '{}' asks {you} to stop (shutdown {}): read your messages, and approve or reject.",
                shutdown.by, shutdown.id
            )
        });
        let you = you.trim_end_matches(',');
        let unread = match self.unread {
            None | Some(0) => None,
            Some(1) => Some(format!("UNREAD: A message waits for {you}.")),
            Some(count) => Some(format!("UNREAD: {count} messages wait for {you}.")),
        };
        shutdown.into_iter().chain(unread).collect()
    }
}

impl Membership {
    /// The warnings of [`Waiting::warnings`], with the team.
    pub fn warnings(&self) -> Vec<String> {
        self.waiting.warnings(Some((&self.handle, &self.team)))
    }
}

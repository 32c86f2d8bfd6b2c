//! Pending messages and questions for a caller in its teams, as all answers have them: `modules/waiting.lua`, and `reply()`
//! of `modules/team.lua`.

use coord_domain::format_instant;
use coord_store::StoreError;
use serde::Deserialize;

use crate::reply::Reply;

/// The target of a shutdown of the whole team.
pub const EVERYBODY: &str = "*";

/// Pending messages and questions for the caller in a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Waiting {
    /// Number of messages that the caller has not confirmed; none for a caller that is not a member.
    pub unread: Option<u64>,
    /// The shutdown that the caller has yet to answer.
    pub shutdown: Option<PendingShutdown>,
}

/// A shutdown, as its recipients see it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PendingShutdown {
    pub id: String,
    /// A handle in lower case, or `*` for the team.
    pub target: String,
    /// Handle of the author.
    pub by: String,
    /// Why.
    pub reason: String,
    /// Unix milliseconds.
    pub respond_by: i64,
}

/// Pending messages and questions for the caller in one of its teams.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Membership {
    /// The team, in lower case.
    pub team: String,
    pub handle: String,
    /// Pending messages and questions.
    #[serde(flatten)]
    pub waiting: Waiting,
}

#[derive(Deserialize)]
struct Answer {
    waiting: Option<Waiting>,
}

impl Waiting {
    /// The field that `reply()` of `modules/team.lua` adds to an answer.
    pub fn of(reply: &Reply) -> Result<Self, StoreError> {
        let Answer { waiting } = reply.object()?;
        Ok(waiting.unwrap_or_default())
    }
}

impl From<Waiting> for coord_protocol::Waiting {
    fn from(stored: Waiting) -> Self {
        coord_protocol::Waiting {
            unread: stored.unread,
            shutdown: stored.shutdown.map(|shutdown| coord_protocol::PendingShutdown {
                id: shutdown.id,
                target: Some(shutdown.target).filter(|target| target != EVERYBODY),
                by: shutdown.by,
                reason: shutdown.reason,
                respond_by: format_instant(shutdown.respond_by),
            }),
        }
    }
}

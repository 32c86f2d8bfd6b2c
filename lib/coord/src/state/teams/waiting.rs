//! What waits for a caller in its teams, as all answers have it: `modules/waiting.lua`, and `reply()` of `modules/team.lua`.

use serde::Deserialize;

use crate::state::reply::Reply;
use crate::store::StoreError;

/// What waits for the caller in a team.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Waiting {
    /// Number of messages that it has not proved to have; none for who is no member.
    pub unread: Option<u64>,
    /// The shutdown that it has yet to answer.
    pub shutdown: Option<AskedToStop>,
}

/// A shutdown, as those have it whom it asks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct AskedToStop {
    /// Its id.
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

/// What waits for the caller in one of its teams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The team, in lower case.
    pub team: String,
    /// The caller's handle.
    pub handle: String,
    /// What waits.
    pub waiting: Waiting,
}

#[derive(Deserialize)]
struct Answer {
    waiting: Option<Waiting>,
}

impl Waiting {
    /// What `reply()` has put into an answer, which stays to be read.
    pub(super) fn of(reply: &Reply) -> Result<Self, StoreError> {
        let Answer { waiting } = reply.following()?;
        Ok(waiting.unwrap_or_default())
    }
}

/// A [`Membership`] in an answer that is JSON.
#[derive(Deserialize)]
pub(in crate::state) struct SentMembership(
    String,
    String,
    u64,
    #[serde(deserialize_with = "text_unless_empty")] Option<AskedToStop>,
);

fn text_unless_empty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<AskedToStop>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let shutdown = (!text.is_empty()).then(|| serde_json::from_str(&text));
    shutdown.transpose().map_err(serde::de::Error::custom)
}

impl From<SentMembership> for Membership {
    fn from(SentMembership(team, handle, unread, shutdown): SentMembership) -> Self {
        Membership {
            team,
            handle,
            waiting: Waiting {
                unread: Some(unread),
                shutdown,
            },
        }
    }
}

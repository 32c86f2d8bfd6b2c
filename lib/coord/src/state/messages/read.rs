use coord_protocol::team_event::MessageType;
use serde::Deserialize;

use super::scripts::READ_MESSAGES;
use crate::state::admission::Kind;
use crate::state::reply::arguments;
use crate::state::teams::{ShutdownRecord, TeamOutcome, TeamTerms, run, unknown};
use crate::store::Store;

/// A message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredMessage {
    /// Its number in the team, which orders all messages.
    pub id: u64,
    /// Handle of the sender; none for a message of Coord itself.
    #[serde(default)]
    pub from: Option<String>,
    /// Verified login of the sender.
    #[serde(default)]
    pub login: Option<String>,
    /// Handle of the recipient, the first of several, or `broadcast`.
    pub to: String,
    /// All recipients, where there are several.
    #[serde(default)]
    pub recipients: Option<Vec<String>>,
    /// Its type.
    pub kind: MessageType,
    /// The text.
    pub message: String,
    /// The text in short.
    #[serde(default)]
    pub summary: Option<String>,
    /// The task that it is about.
    #[serde(default)]
    pub task_id: Option<String>,
    /// The message that it replies to.
    #[serde(default)]
    pub reply_to: Option<u64>,
    /// Unix milliseconds.
    pub time: i64,
}

/// What a read gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inbox {
    /// The cursor for the next read.
    pub cursor: u64,
    /// Number of broadcasts that are dropped, and that the caller was never given.
    pub missed: u64,
    /// Number of messages that the caller has not proved to have.
    pub unread: u64,
    /// Whether more messages follow at once.
    pub has_more: bool,
    /// The messages, in order.
    pub messages: Vec<StoredMessage>,
    /// The open shutdown of the team.
    pub shutdown: Option<ShutdownRecord>,
}

/// Reads what came after `cursor`, or after what is read; what is before `cursor` is read now.
///
/// # Errors
/// When the store gives no reply, or none that is understood.
pub async fn read_messages(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    cursor: Option<u64>,
    most: usize,
    most_bytes: usize,
) -> TeamOutcome<Inbox> {
    let cursor = cursor.map(|cursor| cursor.to_string()).unwrap_or_default();
    let args = arguments([&cursor, &most.to_string(), &most_bytes.to_string()]);
    run(
        store,
        &READ_MESSAGES,
        terms,
        Kind::Read,
        args,
        |mut reply| match reply.outcome.as_str() {
            "READ" => {
                let (cursor, missed, unread) = (reply.number()?, reply.number()?, reply.number()?);
                Ok(Inbox {
                    cursor: cursor.unsigned_abs(),
                    missed: missed.unsigned_abs(),
                    unread: unread.unsigned_abs(),
                    has_more: reply.flag()?,
                    messages: reply.objects()?,
                    shutdown: reply
                        .optional_text()?
                        .map(|text| serde_json::from_str(&text).map_err(|error| reply.malformed(&error.to_string())))
                        .transpose()?,
                })
            }
            _ => unknown(&reply),
        },
    )
    .await
}

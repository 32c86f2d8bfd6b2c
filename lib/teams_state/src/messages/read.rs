use coord_protocol::team_event::MessageType;
use serde::{Deserialize, Serialize};

use super::scripts::{LIST_MESSAGES, READ_MESSAGES};
use crate::teams::{ShutdownRecord, TeamOutcome, TeamTerms, answer_of, run};
use coord_domain::team::{Handle, TaskId};
use coord_state::admission::{RequestKind, is_false};
use coord_state::reply::json_texts;
use coord_store::Store;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StoredMessage {
    /// Its number in the team, which orders all messages.
    pub id: u64,
    /// Handle of the sender; none for a message from Coord.
    pub from: Option<String>,
    /// Verified login of the sender.
    pub login: Option<String>,
    /// Handle of the recipient, the first of several, or `broadcast`.
    pub to: String,
    /// All recipients, if there are several.
    pub recipients: Option<Vec<String>>,
    pub kind: MessageType,
    pub message: String,
    /// The text in short.
    pub summary: Option<String>,
    /// The task that it is about.
    pub task_id: Option<String>,
    pub reply_to: Option<u64>,
    /// Unix milliseconds.
    pub time: i64,
    /// The recipients that left the team and have not read it.
    #[serde(default)]
    pub left: Vec<String>,
}

/// Result of a read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Inbox {
    /// The cursor for the next read.
    pub cursor: u64,
    /// Number of broadcasts that were removed before the caller had read them.
    pub missed: u64,
    /// Number of messages that no cursor of the caller has confirmed as read.
    pub unread: u64,
    /// Whether more messages can be read at once.
    pub has_more: bool,
    /// The messages, in order.
    #[serde(default, deserialize_with = "json_texts")]
    pub messages: Vec<StoredMessage>,
    /// The open shutdown of the team.
    pub shutdown: Option<ShutdownRecord>,
    pub handle: String,
}

/// Arguments of `read_messages.lua`.
#[derive(Serialize)]
struct ReadMessagesArgs {
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<u64>,
    most: usize,
    most_bytes: usize,
    #[serde(skip_serializing_if = "is_false")]
    is_for_another: bool,
}

/// Reads the messages after `cursor`, or the unread ones, and marks those up to `cursor` as read. If `is_own`, the reader is the member
/// itself: it counts as seen, and its claims are renewed.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn read_messages(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    cursor: Option<u64>,
    most: usize,
    most_bytes: usize,
    is_own: bool,
) -> TeamOutcome<Inbox> {
    let request = ReadMessagesArgs {
        cursor,
        most,
        most_bytes,
        is_for_another: !is_own,
    };
    run(
        store,
        &READ_MESSAGES,
        terms,
        RequestKind::Read,
        &request,
        answer_of("READ"),
    )
    .await
}

/// Which messages are listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct MessageFilter<'a> {
    /// Only messages before this one.
    pub before: Option<u64>,
    /// Only messages from or to this member.
    pub member: Option<&'a Handle>,
    /// Only messages about this task.
    pub task: Option<&'a TaskId>,
}

/// How far a member has read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Reader {
    pub handle: String,
    /// Number of the newest message when it joined.
    pub from: u64,
    /// Number of the message up to which it has read.
    pub read: u64,
}

/// A page of the messages of a team, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct MessagePage {
    /// The number before which the next page begins. A page may have no messages although others follow.
    pub earlier: Option<u64>,
    #[serde(default, deserialize_with = "json_texts")]
    pub messages: Vec<StoredMessage>,
    #[serde(default)]
    pub readers: Vec<Reader>,
}

/// Arguments of `list_messages.lua`.
#[derive(Serialize)]
struct ListMessagesArgs<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
    most: usize,
    most_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a str>,
}

/// Lists up to `most` messages of a team.
///
/// # Errors
/// As those of [`read_messages`].
pub async fn list_messages(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    most: usize,
    most_bytes: usize,
    filter: MessageFilter<'_>,
) -> TeamOutcome<MessagePage> {
    let list = ListMessagesArgs {
        before: filter.before,
        most,
        most_bytes,
        member: filter.member.map(|member| member.as_str().to_ascii_lowercase()),
        task_id: filter.task.map(TaskId::as_str),
    };
    run(
        store,
        &LIST_MESSAGES,
        terms,
        RequestKind::Read,
        &list,
        answer_of("LISTED"),
    )
    .await
}

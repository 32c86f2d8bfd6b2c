use coord_protocol::team_event::MessageType;
use serde::{Deserialize, Serialize};

use super::scripts::SEND_MESSAGE;
use crate::teams::{RequestKey, RequestKeyArgs, TeamOutcome, TeamTerms, run, unknown};
use coord_domain::team::{Handle, TaskId};
use coord_state::admission::Kind;
use coord_store::Store;

/// A message to be sent.
#[derive(Clone, Copy, Debug)]
pub struct NewMessage<'a> {
    /// Its type; `idle` goes to the leader.
    pub kind: MessageType,
    pub text: &'a str,
    /// The text in short, or empty.
    pub summary: &'a str,
    /// The task that it is about.
    pub task: Option<&'a TaskId>,
    /// The message that it replies to.
    pub reply_to: Option<u64>,
    /// The recipients; none for all other members.
    pub to: &'a [Handle],
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SentMessage {
    /// Its number in the team.
    pub id: u64,
    /// For `idle`: up to five tasks that may be claimed.
    #[serde(default)]
    pub ready: Vec<String>,
}

/// Arguments of `send_message.lua`.
#[derive(Serialize)]
struct SendMessageArgs<'a> {
    #[serde(flatten)]
    key: RequestKeyArgs,
    message_type: MessageType,
    text: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    summary: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    to: Vec<&'a str>,
}

/// Sends a message.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn send_message(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    key: RequestKey<'_>,
    message: &NewMessage<'_>,
) -> TeamOutcome<SentMessage> {
    let request = SendMessageArgs {
        key: key.args(&SEND_MESSAGE),
        message_type: message.kind,
        text: message.text,
        summary: message.summary,
        task_id: message.task.map(TaskId::as_str),
        reply_to: message.reply_to,
        to: message.to.iter().map(Handle::as_str).collect(),
    };
    run(store, &SEND_MESSAGE, terms, Kind::Read, &request, |reply| {
        match reply.outcome.as_str() {
            "SENT" => reply.object(),
            _ => unknown(&reply),
        }
    })
    .await
}

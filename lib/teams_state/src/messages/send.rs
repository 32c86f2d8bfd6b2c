use coord_protocol::team_event::MessageType;
use serde::{Deserialize, Serialize};

use super::scripts::SEND_MESSAGE;
use crate::teams::{RequestKey, RequestKeyArgs, TeamOutcome, TeamTerms, answer_of, run};
use coord_domain::team::{Handle, TaskId};
use coord_state::admission::RequestKind;
use coord_store::Store;

/// A message to be sent, as `send_message.lua` reads it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NewMessage<'a> {
    /// Its type; `idle` goes to the leader.
    #[serde(rename = "message_type")]
    pub kind: MessageType,
    pub text: &'a str,
    /// The text in short, or empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub summary: &'a str,
    /// The task that it is about.
    #[serde(rename = "task_id", skip_serializing_if = "Option::is_none")]
    pub task: Option<&'a TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<u64>,
    /// The recipients; none for all other members.
    #[serde(skip_serializing_if = "<[Handle]>::is_empty")]
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
    #[serde(flatten)]
    message: &'a NewMessage<'a>,
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
        message,
    };
    run(
        store,
        &SEND_MESSAGE,
        terms,
        RequestKind::Read,
        &request,
        answer_of("SENT"),
    )
    .await
}

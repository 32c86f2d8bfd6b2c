use coord_protocol::team_event::MessageType;

use super::scripts::SEND_MESSAGE;
use crate::domain::team::{Handle, TaskId};
use crate::state::admission::Kind;
use crate::state::reply::arguments;
use crate::state::teams::{RequestKey, TeamOutcome, TeamTerms, run, unknown};
use crate::store::Store;

/// A message to be sent.
#[derive(Clone, Copy, Debug)]
pub struct NewMessage<'a> {
    /// Its type; `idle` goes to the leader.
    pub kind: MessageType,
    /// The text.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// Its number in the team.
    pub id: u64,
    /// For `idle`: up to five tasks that may be claimed.
    pub ready: Vec<String>,
}

/// Sends a message.
///
/// # Errors
/// When the store gives no reply, or none that is understood.
pub async fn send_message(
    store: &dyn Store,
    terms: &TeamTerms<'_>,
    key: RequestKey<'_>,
    message: &NewMessage<'_>,
) -> TeamOutcome<SentMessage> {
    let mut args = Vec::from(key.arguments(&SEND_MESSAGE));
    args.extend(arguments([
        message.kind.as_str(),
        message.text,
        message.summary,
        message.task.map_or("", TaskId::as_str),
        &message.reply_to.map(|id| id.to_string()).unwrap_or_default(),
    ]));
    args.extend(message.to.iter().map(|handle| handle.as_str().into()));
    run(store, &SEND_MESSAGE, terms, Kind::Read, args, |mut reply| {
        match reply.outcome.as_str() {
            "SENT" => Ok(SentMessage {
                id: reply.number()?.unsigned_abs(),
                ready: reply.texts()?,
            }),
            _ => unknown(&reply),
        }
    })
    .await
}

//! Tools of messages.

use std::time::Duration;

use coord_protocol::bounds::WAIT_SECONDS;
use coord_protocol::messages::{MessageView, ReadMessagesRequest, SendMessageRequest};
use coord_protocol::team_tools::{HistoryCall, TeamCall, TeamCallResponse};
use coord_protocol::teams::MemberView;
use coord_teams::answers;
use coord_teams::message::Message;
use coord_teams::texts::BROADCAST;
use coord_teams::time::Time;
use tokio::time::Instant;

use super::records;
use super::team_client::{Requests, TeamClient, answer_of};
use super::tool_answer::OpenCodeAnswer;
use coord_server::error::ApiError;

/// How long `poll-inbox` waits if the caller does not say. The server waits less.
pub(super) const DEFAULT_TIMEOUT_MS: u64 = 30_000;

/// Most messages of an answer. The next answer has the rest.
const MAX_MESSAGES: u32 = 500;

impl<R: Requests> TeamClient<'_, R> {
    /// `send-message`
    pub async fn send(&self, to: &str, message: &str) -> Result<OpenCodeAnswer, R::Error> {
        if to == BROADCAST {
            let problem = "is not a member: call broadcast-message to tell all members";
            return Err(ApiError::invalid_field("targetAgentId", problem).into());
        }
        self.deliver(to, message).await
    }

    /// `broadcast-message`
    pub async fn broadcast(&self, message: &str) -> Result<OpenCodeAnswer, R::Error> {
        self.deliver(BROADCAST, message).await
    }

    async fn deliver(&self, to: &str, message: &str) -> Result<OpenCodeAnswer, R::Error> {
        let request = SendMessageRequest {
            caller: self.member(),
            to: Some(vec![to.to_owned()]),
            message: Some(message.to_owned()),
            ..SendMessageRequest::default()
        };
        let answer = self.ask(TeamCall::Send(request)).await?;
        let waiting = answer.warnings();
        let id = answer_of!(answer, Sent).id;
        // Reads the stored message, which has its time.
        let history = TeamCall::History(HistoryCall {
            caller: self.tool_caller(),
            before: Some(id + 1),
            limit: Some(1),
        });
        let messages = answer_of!(self.ask(history).await?, History).messages;
        let records = self.records(messages).await?;
        let record = records.first().ok_or(ApiError::Internal)?;
        Ok(OpenCodeAnswer::new(answers::record(record)).with(waiting))
    }

    /// `read-messages` and `poll-inbox`: returns the messages that the agent has not confirmed. With `since`, leaves
    /// out older messages and confirms them.
    pub async fn read(&self, timeout_ms: u64, since: Option<Time>) -> Result<OpenCodeAnswer, R::Error> {
        let seconds = timeout_ms.div_ceil(1000).min(u64::from(WAIT_SECONDS));
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let mut request = ReadMessagesRequest {
            caller: self.member(),
            wait: Some(seconds as u32),
            limit: Some(MAX_MESSAGES),
            ..ReadMessagesRequest::default()
        };
        loop {
            let inbox = answer_of!(self.ask(TeamCall::Read(request.clone())).await?, Inbox);
            let is_empty = inbox.messages.is_empty();
            let (notices, member_messages): (Vec<_>, Vec<_>) =
                inbox.messages.into_iter().partition(|message| message.from.is_none());
            let mut messages = self.records(member_messages).await?;
            messages.retain(|message| since.as_ref().is_none_or(|since| message.timestamp >= *since));
            let proof = ReadMessagesRequest {
                cursor: Some(inbox.cursor),
                wait: None,
                ..request.clone()
            };
            let remaining = deadline.saturating_duration_since(Instant::now()).as_secs();
            if messages.is_empty() && notices.is_empty() && !is_empty && (remaining > 0 || inbox.has_more) {
                // All of these messages are older than `since`: confirm them, and read the next ones.
                request = ReadMessagesRequest {
                    wait: Some(remaining as u32),
                    ..proof
                };
                continue;
            }
            // The plugin has no messages without a sender.
            let notices = notices.iter().map(|message| format!("Coord: {}", message.message));
            let more = inbox.has_more.then_some("More messages follow: read again.".to_owned());
            let missed = (inbox.missed > 0).then(|| format!("{} older broadcasts were dropped.", inbox.missed));
            let mut answer = OpenCodeAnswer::new(answers::records(&messages)).with(more).with(missed);
            answer.texts.extend(notices);
            let proof = ReadMessagesRequest {
                limit: Some(1),
                ..proof
            };
            answer.proof = (!is_empty).then(|| Box::new(TeamCall::Read(proof)));
            return Ok(answer);
        }
    }

    /// The messages as the plugin has them. A broadcast lists all members.
    async fn records(&self, messages: Vec<MessageView>) -> Result<Vec<Message>, R::Error> {
        let mut members: Vec<MemberView> = Vec::new();
        if messages.iter().any(|message| message.to == BROADCAST) {
            members = records::members_by_join_time(&self.team().await?);
        }
        let record = |message| records::message(message, self.agent.as_deref(), &members);
        Ok(messages.into_iter().map(record).collect::<Result<_, ApiError>>()?)
    }
}

//! `/api/messages`: messages between members of a team.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::orchestration::Orchestration;
use crate::schema::{LongText, PlainLine, RequestKey, TaskId};
use crate::team_event::MessageType;
use crate::teams::{ShutdownView, TeamCaller};
use crate::waiting::Waiting;

wire! {
    /// A message to be sent.
    #[derive(Default)]
    pub struct SendMessageRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamCaller,
        /// The key of the request, if it may be repeated.
        pub request_key: optional RequestKey as String,
        /// The recipients: handles, or `broadcast` alone for all other members. Required with type `plain`; `idle` goes to the leader.
        #[schema(min_items = 1, max_items = 100)]
        pub to: optional Vec<TaskId> as Vec<String>,
        /// `plain` (the default) or `idle`. Messages of other types follow from assignments and shutdowns.
        #[serde(rename = "type")]
        #[schema(schema_with = sendable_type, required = false)]
        pub kind: Option<String>,
        /// The text.
        pub message: required LongText as String,
        /// A summary of the text.
        pub summary: optional PlainLine as String,
        /// The task that it is about.
        pub task_id: optional TaskId as String,
        /// The message that it replies to.
        #[schema(minimum = 1, maximum = 999_999_999_999_u64)]
        pub reply_to: Option<u64>,
    }
}

fn sendable_type() -> utoipa::openapi::schema::Object {
    crate::schema::one_of(&["plain", "idle"], "The type of the message")
}

wire! {
    /// A read of the caller's inbox.
    #[derive(Default)]
    pub struct ReadMessagesRequest {
        /// The acting caller.
        #[serde(flatten)]
        pub caller: TeamCaller,
        /// The `cursor` of the last response: earlier messages count as read. If it is omitted, unread messages are sent
        /// again.
        #[schema(maximum = 999_999_999_999_u64)]
        pub cursor: Option<u64>,
        /// Seconds to wait for a message; 0 if omitted.
        #[schema(maximum = 20)]
        pub wait: Option<u32>,
        /// Maximum number of messages; 100 if omitted.
        #[schema(minimum = 1, maximum = 500)]
        pub limit: Option<u32>,
        /// Whether another agent, or a program, reads for this one: then the agent does not count as seen, and its claims are not renewed.
        /// The same applies if the header `X-Coord-Agent` names a different agent than `agent_id`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        pub for_another: bool,
    }

    /// A message.
    #[schema(as = TeamMessage)]
    pub struct MessageView {
        /// Its number in the team, which orders all messages.
        #[schema(minimum = 1)]
        pub id: u64,
        /// Handle of the sender; absent for a message of Coord itself.
        pub from: maybe String,
        /// Verified login of the sender.
        pub login: maybe String,
        /// Handle of the recipient, the first of several, or `broadcast`.
        pub to: String,
        /// All recipients, where there are several.
        pub recipients: maybe Vec<String>,
        /// The text. Its content is the sender's.
        pub message: String,
        /// Its type.
        #[serde(rename = "type")]
        pub kind: MessageType,
        /// When it was sent, ISO 8601.
        pub timestamp: String,
        /// Whether the reader, or in a history each recipient, has confirmed it.
        pub read: bool,
        /// A summary of the text.
        pub summary: maybe String,
        /// The task that it is about.
        pub task_id: maybe String,
        /// The message that it replies to.
        pub reply_to: maybe u64,
        /// In a history: the first 20 recipients that have not confirmed it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(max_items = 20)]
        pub unread_by: Vec<String>,
        /// In a history: the number of recipients that have not confirmed it.
        #[serde(default, skip_serializing_if = "crate::locks::is_zero")]
        pub unread_count: u64,
    }
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[schema(as = MessageAccepted)]
pub struct SendMessageResponse {
    /// Its number in the team.
    pub id: u64,
    /// With type `idle`: up to five tasks that may be claimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ready: Vec<String>,
    /// Pending items for the caller.
    #[serde(flatten)]
    pub waiting: Waiting,
    /// The next step.
    pub orchestration: Orchestration,
}

wire! {
    /// Messages of the caller's inbox. `unread` includes the returned ones.
    #[schema(as = Inbox)]
    pub struct InboxResponse {
        /// The team.
        pub team: String,
        /// The caller's handle.
        pub handle: String,
        /// The messages, in order.
        pub messages: Vec<MessageView>,
        /// The cursor for the next read, which confirms these messages.
        pub cursor: u64,
        /// Number of messages that the caller has not confirmed.
        pub unread: u64,
        /// Number of dropped broadcasts that the caller never received.
        #[serde(default, skip_serializing_if = "crate::locks::is_zero")]
        pub missed: u64,
        /// Whether more messages follow at once.
        pub has_more: bool,
        /// Whether the wait ended without a message.
        pub timed_out: bool,
        /// The open shutdown.
        pub shutdown: maybe ShutdownView,
        /// The next step.
        pub orchestration: Orchestration,
    }

    /// Messages of a team, the newest first.
    #[schema(as = MessageHistory)]
    pub struct HistoryResponse {
        /// The messages.
        pub messages: Vec<MessageView>,
        /// The `before` of the next page; absent at the end.
        pub earlier: maybe u64,
        /// Pending items for the caller.
        #[serde(flatten)]
        pub waiting: Waiting,
    }
}

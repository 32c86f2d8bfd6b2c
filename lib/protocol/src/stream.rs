//! Messages of `GET /api/events` besides events, and a client's messages on a WebSocket.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ErrorCode;
use crate::schema::EventId;

/// A message of the stream about the stream itself, by its `type`. Later versions may have more types and fields: ignore
/// unknown ones.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamMessage {
    /// The first message: the events after `cursor` follow.
    StreamOpened(StreamOpened),
    /// Events were missed, because the log no longer reaches back to the last one: read the state again. Those after `cursor`
    /// follow.
    Resync(Resync),
    /// No other message was sent for a while, or `is_live` changed.
    Heartbeat(Heartbeat),
    /// The last message: the stream ends.
    StreamEnded(StreamEnded),
    /// The only message on a WebSocket: the request is refused. In HTTP the same is a response.
    Error(StreamError),
}

impl StreamMessage {
    /// Its `type`.
    pub fn name(&self) -> &'static str {
        match self {
            StreamMessage::StreamOpened(_) => "stream_opened",
            StreamMessage::Resync(_) => "resync",
            StreamMessage::Heartbeat(_) => "heartbeat",
            StreamMessage::StreamEnded(_) => "stream_ended",
            StreamMessage::Error(_) => "error",
        }
    }
}

/// The start of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct StreamOpened {
    /// The event after which the stream begins.
    #[schema(value_type = EventId)]
    pub cursor: String,
    /// Longest time without a message, in seconds.
    #[schema(minimum = 1)]
    pub heartbeat_seconds: u64,
    /// Whether events arrive as they happen: false while the store is unavailable.
    pub is_live: bool,
    /// The clock of the server, milliseconds since 1970.
    #[schema(minimum = 0)]
    pub time_ms: i64,
}

/// A gap.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct Resync {
    /// The event after which the stream goes on.
    #[schema(value_type = EventId)]
    pub cursor: String,
}

/// A heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct Heartbeat {
    /// Everything up to this event was sent, or is of other branches.
    #[schema(value_type = EventId)]
    pub cursor: String,
    /// Whether events arrive as they happen: false while the store is unavailable.
    pub is_live: bool,
    /// The clock of the server, milliseconds since 1970.
    #[schema(minimum = 0)]
    pub time_ms: i64,
}

/// Why a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StreamEnd {
    /// The client reads more slowly than events happen. Resume after a pause.
    Slow,
    /// The function has reached its maximum duration. Resume at once.
    TimeLimit,
    /// The caller no longer has the right to read the repository.
    Forbidden,
    /// The server stops. Resume at once: another one may have taken over.
    Shutdown,
    /// The right could not be verified again, or the log not read. Resume after a pause.
    Unavailable,
}

/// The end of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct StreamEnded {
    /// Why.
    pub reason: StreamEnd,
    /// The same as a sentence.
    pub message: String,
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct StreamError {
    /// Code of the error.
    #[schema(value_type = String)]
    pub error: ErrorCode,
    /// The problem, and the fix.
    pub message: String,
    /// Seconds until the request may be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, minimum = 1)]
    pub retry_after: Option<u64>,
}

/// A client's message on a WebSocket.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum StreamRequest {
    /// The credential, for clients that cannot set headers. It may be sent again with a newer one.
    Authenticate {
        /// A GitHub token or a JWT.
        #[schema(min_length = 1, max_length = 8192)]
        token: String,
    },
}

impl std::fmt::Debug for StreamRequest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Authenticate(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_message_is_its_type() {
        let cursor = "1-0".to_owned();
        for message in [
            StreamMessage::StreamOpened(StreamOpened {
                cursor: cursor.clone(),
                heartbeat_seconds: 15,
                is_live: true,
                time_ms: 1,
            }),
            StreamMessage::Resync(Resync { cursor: cursor.clone() }),
            StreamMessage::Heartbeat(Heartbeat {
                cursor,
                is_live: false,
                time_ms: 1,
            }),
            StreamMessage::StreamEnded(StreamEnded {
                reason: StreamEnd::TimeLimit,
                message: String::new(),
            }),
            StreamMessage::Error(StreamError {
                error: ErrorCode::Unauthorized,
                message: String::new(),
                retry_after: None,
            }),
        ] {
            let json = serde_json::to_value(&message).unwrap();
            assert_eq!(json["type"], message.name());
            assert_eq!(serde_json::from_value::<StreamMessage>(json).unwrap(), message);
        }
    }

    #[test]
    fn a_token_is_not_printed() {
        let request = StreamRequest::Authenticate {
            token: "hunter2".to_owned(),
        };
        assert!(!format!("{request:?}").contains("hunter2"));
    }
}

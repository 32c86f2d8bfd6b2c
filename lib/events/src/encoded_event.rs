//! An event, encoded once for all watchers: as a WebSocket message and as a server-sent event.

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use coord_protocol::plain_text::escape;
use coord_protocol::{Event, PublishedEvent};

use coord_domain::{Branch, EventId};
use coord_state::events::LoggedEvent;

/// An event, encoded once for all watchers.
#[derive(Clone, Debug)]
pub struct EncodedEvent {
    /// The id of the event in the log; progress of a build has none.
    pub id: Option<EventId>,
    pub event: Event,
    /// The event with its id, as JSON.
    pub text: Utf8Bytes,
    /// The same as a server-sent event.
    pub frame: Bytes,
}

impl EncodedEvent {
    /// An event of the log; `None` if this version does not know its type.
    pub(super) fn from_log(logged: LoggedEvent) -> Option<EncodedEvent> {
        EncodedEvent::new(Some(logged.id), logged.event?)
    }

    /// The event in a message of the channel, with its id if it is in the log; `None` if this version does not know its
    /// type.
    pub(super) fn from_message(message: &[u8]) -> Option<EncodedEvent> {
        let published: PublishedEvent = serde_json::from_slice(message).ok()?;
        let id = match published.id {
            Some(id) => Some(EventId::parse(&id).ok()?),
            None => None,
        };
        EncodedEvent::new(id, published.event)
    }

    /// The id in a message whose event this version does not know.
    pub(super) fn message_id(message: &[u8]) -> Option<EventId> {
        #[derive(serde::Deserialize)]
        struct Message {
            id: String,
        }
        let Message { id } = serde_json::from_slice(message).ok()?;
        EventId::parse(&id).ok()
    }

    fn new(id: Option<EventId>, event: Event) -> Option<EncodedEvent> {
        let published = PublishedEvent::new(id.map(|id| id.to_string()), event);
        let json = serde_json::to_string(&published).ok()?;
        let json = escape(&json).into_owned();
        let frame = frame(published.id.as_deref(), published.event.name(), &json);
        Some(EncodedEvent {
            id,
            event: published.event,
            text: json.into(),
            frame,
        })
    }

    /// Whether watchers of `branch` get it. An event without a branch may be about locks of any branch.
    pub fn concerns(&self, branch: &Branch) -> bool {
        self.event.branch().is_none_or(|name| name == branch.as_str())
    }

    /// Its approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        2 * (self.text.len() + self.frame.len())
    }
}

/// A server-sent event. JSON has no line ends.
pub fn frame(id: Option<&str>, name: &str, json: &str) -> Bytes {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{id}event: {name}\ndata: {json}\n\n").into()
}

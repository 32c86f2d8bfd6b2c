//! A stream as server-sent events.

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use coord_protocol::stream::StreamMessage;
use futures::stream::unfold;

use super::watcher::Lifetime;
use coord_events::frame;
use coord_server::operations::{Message, Stream};

/// The response with the messages of `stream`. Nothing queues up here, because the stream drops a client that reads too
/// slowly.
pub(super) fn respond(stream: Stream, lifetime: Lifetime) -> Response {
    let frames = unfold((stream, lifetime), async |(mut stream, lifetime)| {
        let frame = message_frame(stream.next().await?);
        Some((Ok::<Bytes, std::convert::Infallible>(frame), (stream, lifetime)))
    });
    let mut response = Body::from_stream(frames).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Without this header, proxies such as nginx buffer the response.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

fn message_frame(message: Message) -> Bytes {
    match message {
        Message::Event(event) => event.frame.clone(),
        Message::Stream(message) => {
            let cursor = match &message {
                StreamMessage::StreamOpened(opened) => Some(&opened.cursor),
                StreamMessage::Resync(resync) => Some(&resync.cursor),
                StreamMessage::Heartbeat(heartbeat) => Some(&heartbeat.cursor),
                StreamMessage::StreamEnded(_) | StreamMessage::Error(_) => None,
            };
            let json = serde_json::to_string(&message).unwrap_or_default();
            frame(cursor.map(String::as_str), message.name(), &json)
        }
    }
}

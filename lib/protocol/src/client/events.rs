//! `GET /api/events`, as server-sent events.

use std::time::Duration;

use serde_json::Value as Json;

use super::error::{ClientError, unreachable};
use super::http::Client;
use super::response::WholeResponse;
use crate::event::PublishedEvent;
use crate::plain_text;
use crate::stream::StreamMessage;

/// Largest message of the stream, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// Time limit of the whole response. The server usually ends the stream earlier.
const STREAM_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A message of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamItem {
    /// An event.
    Event(Box<PublishedEvent>),
    /// A message about the stream itself.
    Message(StreamMessage),
    /// A message of a type that this version does not know.
    Unknown,
}

/// An open stream. The reader has to bound the time of a read: a message comes at least every 15 seconds.
#[derive(Debug)]
pub struct EventStream {
    response: reqwest::Response,
    buffer: Vec<u8>,
}

impl Client {
    /// Opens the stream of the events of a repository.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn events(&self, repo_url: &str) -> Result<EventStream, ClientError> {
        let url = self.url_with("api/events", &[("repo_url", Some(repo_url))])?;
        let request = self.http.get(url).header("accept", "text/event-stream");
        let response = request.timeout(STREAM_TIMEOUT).send().await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(WholeResponse::read(response).await?.into_error());
        }
        Ok(EventStream {
            response,
            buffer: Vec::new(),
        })
    }
}

impl EventStream {
    /// The next message; `None` at the end.
    ///
    /// # Errors
    /// When the connection breaks, or a message is not of this protocol.
    pub async fn next(&mut self) -> Result<Option<StreamItem>, ClientError> {
        loop {
            if let Some(frame) = take_frame(&mut self.buffer) {
                let Some(data) = frame_data(&frame) else { continue };
                return decode(&data).map(Some).map_err(|problem| self.malformed(problem));
            }
            if self.buffer.len() > MAX_BYTES {
                return Err(self.malformed(format!("a message is larger than {MAX_BYTES} bytes")));
            }
            match self.response.chunk().await.map_err(unreachable)? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => return Ok(None),
            }
        }
    }

    fn malformed(&self, problem: String) -> ClientError {
        ClientError::Malformed {
            status: self.response.status().as_u16(),
            problem,
        }
    }
}

/// Takes the lines up to the next empty line.
fn take_frame(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = buffer.windows(2).position(|pair| pair == b"\n\n")?;
    let rest = buffer.split_off(end + 2);
    Some(std::mem::replace(buffer, rest))
}

fn frame_data(frame: &[u8]) -> Option<Vec<u8>> {
    let lines = frame.split(|byte| *byte == b'\n');
    let data: Vec<_> = lines.filter_map(|line| line.strip_prefix(b"data:")).collect();
    (!data.is_empty()).then(|| data.join(&b'\n'))
}

fn decode(data: &[u8]) -> Result<StreamItem, String> {
    let mut json: Json = serde_json::from_slice(data).map_err(|error| error.to_string())?;
    plain_text::clean(&mut json);
    if let Ok(message) = serde_json::from_value(json.clone()) {
        return Ok(StreamItem::Message(message));
    }
    let event = serde_json::from_value(json).map(|event| StreamItem::Event(Box::new(event)));
    Ok(event.unwrap_or(StreamItem::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_one_by_one_however_they_arrive() {
        let text = b": a comment\n\n\
            id: 1-0\ndata: {\"type\":\"heartbeat\",\"cursor\":\"1-0\",\"is_live\":true,\"time_ms\":1}\n\n\
            data: {\"type\":\"of_later\"}\n\n\
            data: rest";
        let (mut buffer, mut messages) = (Vec::new(), Vec::new());
        for byte in text {
            buffer.push(*byte);
            while let Some(frame) = take_frame(&mut buffer) {
                messages.extend(frame_data(&frame).map(|data| decode(&data).unwrap()));
            }
        }
        assert!(
            matches!(
                messages[..],
                [StreamItem::Message(StreamMessage::Heartbeat(_)), StreamItem::Unknown]
            ),
            "{messages:?}"
        );
        assert_eq!(buffer, b"data: rest");
        assert!(decode(b"{").is_err());
    }
}

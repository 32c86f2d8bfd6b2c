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
const MOST_BYTES: usize = 1 << 20;

/// Time limit of the whole response, which goes on as long as the server lets it.
const STREAM_TIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A message of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamItem {
    /// An event.
    Event(Box<PublishedEvent>),
    /// About the stream itself.
    Message(StreamMessage),
    /// Of a type that this version does not know.
    Unknown,
}

/// An open stream. The reader bounds the time: a message comes at least every 15 seconds.
#[derive(Debug)]
pub struct EventStream {
    response: reqwest::Response,
    read: Vec<u8>,
}

impl Client {
    /// Opens the stream of the events of a repository.
    ///
    /// # Errors
    /// When the server returns an error, or no response.
    pub async fn events(&self, repo_url: &str) -> Result<EventStream, ClientError> {
        let url = self.url_with("api/events", &[("repo_url", Some(repo_url))])?;
        let request = self.http.get(url).header("accept", "text/event-stream");
        let response = request.timeout(STREAM_TIME).send().await.map_err(unreachable)?;
        if !response.status().is_success() {
            return Err(WholeResponse::read(response).await?.refusal());
        }
        Ok(EventStream {
            response,
            read: Vec::new(),
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
            if let Some(frame) = take_frame(&mut self.read) {
                let Some(data) = data_of(&frame) else { continue };
                return decode(&data).map(Some).map_err(|problem| self.malformed(problem));
            }
            if self.read.len() > MOST_BYTES {
                return Err(self.malformed(format!("a message is larger than {MOST_BYTES} bytes")));
            }
            match self.response.chunk().await.map_err(unreachable)? {
                Some(part) => self.read.extend_from_slice(&part),
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

/// The lines up to the next empty one.
fn take_frame(read: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = read.windows(2).position(|pair| pair == b"\n\n")?;
    let rest = read.split_off(end + 2);
    Some(std::mem::replace(read, rest))
}

fn data_of(frame: &[u8]) -> Option<Vec<u8>> {
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
        let text = b": a comment\n\nid: 1-0\ndata: {\"type\":\"heartbeat\",\"cursor\":\"1-0\",\"is_live\":true,\"time_ms\":1}\n\ndata: {\"type\":\"of_later\"}\n\ndata: rest";
        let (mut read, mut messages) = (Vec::new(), Vec::new());
        for byte in text {
            read.push(*byte);
            while let Some(frame) = take_frame(&mut read) {
                messages.extend(data_of(&frame).map(|data| decode(&data).unwrap()));
            }
        }
        assert!(
            matches!(
                messages[..],
                [StreamItem::Message(StreamMessage::Heartbeat(_)), StreamItem::Unknown]
            ),
            "{messages:?}"
        );
        assert_eq!(read, b"data: rest");
        assert!(decode(b"{").is_err());
    }
}

//! The messages of a stream, cut out of the bytes of its connection, without parsing their JSON.

use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use bytes::{Buf, BytesMut};

use super::ledger::{Id, parse};

/// What a message says.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    Event(Id),
    Opened,
    /// Events are lost.
    Resync,
    /// The last message.
    Ended(String),
    /// A heartbeat, or progress that is in no log.
    Other,
}

/// The way in which messages are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    WebSocket,
    ServerSentEvents,
}

impl Way {
    /// The headers that ask for it, and the status of the response.
    pub fn headers(self) -> (&'static str, &'static str) {
        match self {
            Way::WebSocket => (
                "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                 Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                "HTTP/1.1 101 ",
            ),
            Way::ServerSentEvents => ("Accept: text/event-stream\r\n", "HTTP/1.1 200 "),
        }
    }

    /// Takes the next whole message out of `bytes`.
    pub fn next(self, bytes: &mut BytesMut) -> Result<Option<Said>> {
        let whole = match self {
            Way::WebSocket => frame(bytes)?,
            Way::ServerSentEvents => chunk(bytes)?,
        };
        let Some((content, length)) = whole else {
            return Ok(None);
        };
        let said = match (self, content) {
            (Way::WebSocket, None) => Said::Ended("a close without a message".to_owned()),
            (_, None) => Said::Ended("an end without a message".to_owned()),
            (Way::WebSocket, Some(content)) => said(str::from_utf8(&bytes[content])?)?,
            (Way::ServerSentEvents, Some(content)) => {
                let text = str::from_utf8(&bytes[content])?;
                // Each is sent as one chunk.
                ensure!(text.ends_with("\n\n"), "not one server-sent event: {text:?}");
                let data = text.find("data: ").context("an event without data")?;
                said(&text[data + 6..])?
            }
        };
        bytes.advance(length);
        Ok(Some(said))
    }
}

/// The content of a message, none at the end, and how many bytes it takes with its head.
type Whole = (Option<Range<usize>>, usize);

/// The first frame of a WebSocket; a server's frames are not masked.
fn frame(bytes: &[u8]) -> Result<Option<Whole>> {
    let [kind, length, rest @ ..] = bytes else {
        return Ok(None);
    };
    let (head, length) = match (length, rest) {
        (126, [high, low, ..]) => (4, usize::from(u16::from_be_bytes([*high, *low]))),
        (0..126, _) => (2, usize::from(*length)),
        (126, _) => return Ok(None),
        _ => bail!("a masked frame, or one of 64 KiB"),
    };
    let end = head + length;
    Ok((bytes.len() >= end).then(|| ((*kind == 0x81).then_some(head..end), end)))
}

/// The first chunk of a body.
fn chunk(bytes: &[u8]) -> Result<Option<Whole>> {
    let Some(line) = bytes.iter().take(20).position(|byte| *byte == b'\n') else {
        return Ok(None);
    };
    let length = usize::from_str_radix(str::from_utf8(&bytes[..line])?.trim_end(), 16)?;
    let (head, end) = (line + 1, line + 1 + length);
    Ok((bytes.len() >= end + 2).then(|| ((length > 0).then_some(head..end), end + 2)))
}

/// Reads the beginning of the JSON of a message, where the server writes what is needed.
fn said(json: &str) -> Result<Said> {
    if let Some(rest) = json.strip_prefix(r#"{"id":""#) {
        let (id, _) = rest.split_once('"').context("an unfinished id")?;
        return Ok(Said::Event(parse(id)?));
    }
    let kind = json
        .strip_prefix(r#"{"type":""#)
        .and_then(|rest| rest.split('"').next());
    Ok(match kind.context("a message without a type")? {
        "stream_opened" => Said::Opened,
        "resync" => Said::Resync,
        "stream_ended" | "error" => Said::Ended(json.to_owned()),
        _ => Said::Other,
    })
}

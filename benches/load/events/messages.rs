//! The messages of a stream, cut out of the bytes of its connection, without parsing their JSON.

use std::ops::Range;

use anyhow::{Context, Result, bail};
use bytes::{Buf, BytesMut};

use super::ledger::{Id, parse};

/// The content of one message.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    Event(Id),
    Opened,
    /// Events are lost.
    Resync,
    Ended(String),
    /// A heartbeat, or progress that is in no log.
    Other,
}

/// The headers that ask for a WebSocket.
pub const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                           Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Takes the next whole message out of `bytes`.
pub fn next(bytes: &mut BytesMut) -> Result<Option<Received>> {
    let Some((content, length)) = frame(bytes)? else {
        return Ok(None);
    };
    let message = match content {
        Some(content) => parse_message(str::from_utf8(&bytes[content])?)?,
        None => Received::Ended("a close without a message".to_owned()),
    };
    bytes.advance(length);
    Ok(Some(message))
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

/// Reads the beginning of the JSON of a message, where the server writes what is needed.
fn parse_message(json: &str) -> Result<Received> {
    if let Some(rest) = json.strip_prefix(r#"{"id":""#) {
        let (id, _) = rest.split_once('"').context("an unfinished id")?;
        return Ok(Received::Event(parse(id)?));
    }
    let kind = json
        .strip_prefix(r#"{"type":""#)
        .and_then(|rest| rest.split('"').next());
    Ok(match kind.context("a message without a type")? {
        "stream_opened" => Received::Opened,
        "resync" => Received::Resync,
        "stream_ended" | "error" => Received::Ended(json.to_owned()),
        _ => Received::Other,
    })
}

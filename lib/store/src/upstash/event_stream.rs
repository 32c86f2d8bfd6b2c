//! The server-sent events of `/subscribe`: `data: subscribe,CHANNEL,1`, then `data: message,CHANNEL,PAYLOAD`.

use bytes::Bytes;
use futures::{Stream, StreamExt, stream};
use reqwest::Response;

/// One event of a subscription.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The subscription is confirmed.
    Subscribed,
    Message(Bytes),
}

/// The events in `response`. The stream ends with the response, or at an event longer than `limit` bytes.
pub(super) fn messages(
    response: Response,
    channel: &str,
    limit: usize,
) -> impl Stream<Item = Event> + Send + Unpin + use<> {
    let parser = Parser::new(channel, limit);
    let batches = stream::unfold((response, parser), async |(mut response, mut parser)| {
        // A lost connection ends the stream, as the trait says.
        let chunk = response.chunk().await.ok().flatten()?;
        let events = parser.push(&chunk)?;
        Some((stream::iter(events), (response, parser)))
    });
    Box::pin(batches.flatten())
}

/// Splits a stream of bytes into events.
///
/// A payload with line breaks is several `data:` lines of one event. Upstash does not document whether its events end
/// with the empty line of the format. So another `message,` line and the end of the received bytes end an event, too.
struct Parser {
    subscribed: Vec<u8>,
    message: Vec<u8>,
    limit: usize,
    /// Bytes of an incomplete line.
    partial: Vec<u8>,
    /// The payload of an incomplete event.
    payload: Option<Vec<u8>>,
}

impl Parser {
    fn new(channel: &str, limit: usize) -> Self {
        Parser {
            subscribed: format!("subscribe,{channel},").into_bytes(),
            message: format!("message,{channel},").into_bytes(),
            limit,
            partial: Vec::new(),
            payload: None,
        }
    }

    /// The events that `chunk` completes; `None` if one is too long.
    fn push(&mut self, chunk: &[u8]) -> Option<Vec<Event>> {
        let mut events = Vec::new();
        for piece in chunk.split_inclusive(|&byte| byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if self.partial.len() + self.payload.as_ref().map_or(0, Vec::len) > self.limit {
                return None;
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.partial);
                self.line(trim_line_end(&line), &mut events);
            }
        }
        if self.partial.is_empty() {
            self.end_event(&mut events);
        }
        Some(events)
    }

    fn line(&mut self, line: &[u8], events: &mut Vec<Event>) {
        if line.is_empty() {
            return self.end_event(events);
        }
        // Any other line is a comment, or a field that a subscription does not have.
        let Some(data) = line.strip_prefix(b"data:") else {
            return;
        };
        let data = data.strip_prefix(b" ").unwrap_or(data);
        if let Some(payload) = data.strip_prefix(self.message.as_slice()) {
            self.end_event(events);
            self.payload = Some(payload.to_vec());
        } else if let Some(payload) = &mut self.payload {
            payload.push(b'\n');
            payload.extend_from_slice(data);
        } else if data.starts_with(&self.subscribed) {
            events.push(Event::Subscribed);
        }
    }

    fn end_event(&mut self, events: &mut Vec<Event>) {
        events.extend(self.payload.take().map(|payload| Event::Message(payload.into())));
    }
}

/// `line` without its line feed and the carriage return before it.
fn trim_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Event {
        Event::Message(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn events_are_the_same_wherever_the_stream_is_cut() {
        let text =
            "data: subscribe,c,1\n\n: keep-alive\n\ndata: message,c,one\n\ndata: message,c,{\"a\":1,\"b\":2}\r\n\r\n";
        let expected = [Event::Subscribed, message("one"), message("{\"a\":1,\"b\":2}")];
        for cut in 0..text.len() {
            let mut parser = Parser::new("c", 1000);
            let mut events = parser.push(&text.as_bytes()[..cut]).unwrap();
            events.extend(parser.push(&text.as_bytes()[cut..]).unwrap());
            assert_eq!(events, expected, "cut at {cut}");
        }
    }

    #[test]
    fn events_without_empty_lines_between_them_are_separated() {
        let text = "data: subscribe,c,1\ndata: message,c,one\ndata: message,c,two\n";
        let events = Parser::new("c", 1000).push(text.as_bytes()).unwrap();
        assert_eq!(events, [Event::Subscribed, message("one"), message("two")]);
    }

    #[test]
    fn a_payload_of_several_lines_is_put_together_again() {
        let events = Parser::new("c", 1000)
            .push(b"data: message,c,one\ndata: two\ndata: \n\n")
            .unwrap();
        assert_eq!(events, [message("one\ntwo\n")]);
    }

    #[test]
    fn another_channel_and_other_fields_are_passed_over() {
        let events = Parser::new("c", 1000)
            .push(b"event: x\nid: 1\ndata: message,d,one\n\nretry: 5\n\n")
            .unwrap();
        assert_eq!(events, []);
    }

    #[test]
    fn an_event_that_never_ends_is_not_kept() {
        let mut parser = Parser::new("c", 100);
        assert!(parser.push(&[b'x'; 60]).is_some());
        assert!(parser.push(&[b'x'; 60]).is_none());
    }
}

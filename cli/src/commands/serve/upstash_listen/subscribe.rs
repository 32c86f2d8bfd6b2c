//! `/subscribe/CHANNEL`: messages as server-sent events, in Upstash's form.
//!
//! ```text
//! data: subscribe,CHANNEL,1
//!
//! data: message,CHANNEL,PAYLOAD
//! ```

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use coord_store::Store;
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use percent_encoding::percent_decode_str;

use super::answer::Refusal;

/// Most channels of one request: each costs a connection to a Redis server.
const CHANNELS: usize = 16;
/// Interval of comments on a silent stream, which also detect that its reader has gone.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The events of the channels in `path`, `/subscribe/CHANNEL[/CHANNEL...]`, each percent-encoded.
///
/// # Errors
/// 400 without a channel or with too many; 5xx when the store cannot subscribe.
pub(super) async fn events(store: &Arc<dyn Store>, path: &str) -> Result<Response, Refusal> {
    let channels = channels(path)?;
    let mut confirmations = String::new();
    let mut streams = Vec::with_capacity(channels.len());
    for (index, channel) in channels.into_iter().enumerate() {
        let messages = store.subscribe(&channel).await.map_err(Refusal::from)?;
        confirmations.push_str(&event(&format!("subscribe,{channel},{}", index + 1)));
        streams.push(messages.map(move |payload| message(&channel, &payload)).boxed());
    }
    let body = stream::iter([Bytes::from(confirmations)]).chain(with_heartbeat(streams));
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
    Ok((headers, Body::from_stream(body.map(Ok::<_, std::convert::Infallible>))).into_response())
}

fn channels(path: &str) -> Result<Vec<String>, Refusal> {
    let mut channels = Vec::new();
    for segment in path.split('/').skip(2).filter(|segment| !segment.is_empty()) {
        let channel = percent_decode_str(segment).decode_utf8();
        channels.push(
            channel
                .map_err(|_| Refusal::bad("ERR the name of a channel must be UTF-8"))?
                .into_owned(),
        );
    }
    match channels.len() {
        0 => Err(Refusal::bad("ERR wrong number of arguments for 'subscribe' command")),
        1..=CHANNELS => Ok(channels),
        _ => Err(Refusal::bad(format!(
            "ERR at most {CHANNELS} channels in one subscription"
        ))),
    }
}

/// All messages as they arrive, and a comment after each silence. Ends as soon as one subscription is lost: the reader then
/// subscribes again, and does not miss one channel unnoticed.
fn with_heartbeat(streams: Vec<BoxStream<'static, Bytes>>) -> impl Stream<Item = Bytes> + Send + 'static {
    let ending = streams
        .into_iter()
        .map(|messages| messages.map(Some).chain(stream::iter([None])));
    let messages =
        stream::select_all(ending.map(StreamExt::boxed)).take_while(|item| std::future::ready(item.is_some()));
    stream::unfold(messages.boxed(), async |mut messages| {
        match tokio::time::timeout(HEARTBEAT, messages.next()).await {
            Ok(Some(Some(message))) => Some((message, messages)),
            Ok(_) => None,
            Err(_) => Some((Bytes::from_static(b": heartbeat\n\n"), messages)),
        }
    })
}

fn message(channel: &str, payload: &[u8]) -> Bytes {
    event(&format!("message,{channel},{}", String::from_utf8_lossy(payload))).into()
}

/// One event; a line break in it begins another `data:` line, as the format requires.
fn event(data: &str) -> String {
    let lines = data.replace("\r\n", "\n").replace(['\n', '\r'], "\ndata: ");
    format!("data: {lines}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_in_a_payload_cannot_end_or_forge_an_event() {
        assert_eq!(
            message("c", b"a\n\ndata: x\rb"),
            "data: message,c,a\ndata: \ndata: data: x\ndata: b\n\n"
        );
    }

    #[test]
    fn channels_are_decoded_segments() {
        assert_eq!(channels("/subscribe/a%2Fb/c").unwrap_or_default(), ["a/b", "c"]);
        assert!(channels("/subscribe").is_err());
        assert!(channels("/subscribe/").is_err());
        assert!(channels("/subscribe/%ff").is_err());
        assert!(channels(&format!("/subscribe{}", "/c".repeat(17))).is_err());
    }
}

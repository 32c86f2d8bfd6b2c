//! A stream on a WebSocket. Errors are sent on the socket, because a page cannot see the response to its handshake.

use std::time::Duration;

use axum::extract::WebSocketUpgrade;
use axum::extract::ws::{CloseFrame, Message as Frame, Utf8Bytes, WebSocket};
use axum::http::header::{AUTHORIZATION, SEC_WEBSOCKET_PROTOCOL};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use coord_protocol::stream::{StreamEnd, StreamError, StreamMessage, StreamRequest};
use tokio::time::timeout;

use super::watcher::{Lifetime, Watcher};
use crate::error::Respond;
use coord_auth::{CREDENTIAL_HEADERS, presents_credential};
use coord_server::admission::caller_address::{caller_address, coming_from};
use coord_server::error::ApiError;
use coord_server::operations::{Message, Stream};

const SUBPROTOCOL: &str = "coord.v1";

/// The prefix of a subprotocol that is a token.
const TOKEN_PREFIX: &str = "coord.token.";

/// Maximum bytes of a client's message.
const MAX_BYTES: usize = 16 * 1024;

/// Bytes of the read buffer, of which the library has one for each client. It fills the buffer with zeros before each
/// read; its default is 128 KiB.
const READ_BYTES: usize = 1024;

/// Time limit for sending a message.
const SEND_TIME: Duration = Duration::from_secs(20);

/// Time limit for the client to close.
const CLOSE_TIME: Duration = Duration::from_secs(1);

/// The response that opens the socket.
pub(super) fn respond(
    upgrade: WebSocketUpgrade,
    headers: &HeaderMap,
    mut watcher: Watcher,
    lifetime: Lifetime,
) -> Response {
    if let Some(token) = find_token(headers) {
        watcher.present(&token);
    }
    let address = caller_address();
    upgrade
        .protocols([SUBPROTOCOL])
        .read_buffer_size(READ_BYTES)
        .max_message_size(MAX_BYTES)
        .max_frame_size(MAX_BYTES)
        .on_upgrade(move |socket| coming_from(address, serve(socket, watcher, lifetime)))
}

/// The token among the subprotocols.
fn find_token(headers: &HeaderMap) -> Option<String> {
    let lists = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let names = lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(','));
    let mut tokens = names.filter_map(|name| name.trim().strip_prefix(TOKEN_PREFIX));
    let encoded = tokens.next()?;
    if tokens.next().is_some() {
        // To choose one of several would be a guess. An empty token is refused.
        return Some(String::new());
    }
    String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(encoded).ok()?).ok()
}

impl Watcher {
    /// Presents `token` in place of the previous credential.
    fn present(&mut self, token: &str) {
        // A token that cannot be in a header is invalid.
        let value = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut value = value.unwrap_or_else(|_| HeaderValue::from_static("Bearer -"));
        value.set_sensitive(true);
        // Two different credentials would be refused.
        for name in CREDENTIAL_HEADERS {
            self.headers.remove(name);
        }
        self.headers.insert(AUTHORIZATION, value);
    }
}

/// Why a socket is closed.
struct Close {
    code: u16,
    reason: &'static str,
}

const MALFORMED: Close = Close {
    code: 4400,
    reason: "a client sends nothing but authenticate, in 16 KiB at most",
};

async fn serve(mut socket: WebSocket, mut watcher: Watcher, lifetime: Lifetime) {
    let close = match start(&mut socket, &mut watcher, &lifetime).await {
        Ok(stream) => relay(&mut socket, watcher, stream).await,
        Err(close) => close,
    };
    let closing = async {
        // Without a reason, the client has closed the socket or disconnected.
        if let Some(Close { code, reason }) = close {
            let reason = Utf8Bytes::from_static(reason);
            // An error means that the client disconnected, which the loop below notices.
            let _ = socket.send(Frame::Close(Some(CloseFrame { code, reason }))).await;
        }
        // The library responds to the client's close. Unread bytes would reset the connection.
        while let Some(Ok(_)) = socket.recv().await {}
    };
    // A client that does not close in time is disconnected.
    let _ = timeout(CLOSE_TIME, closing).await;
}

/// Starts the stream. If it needs a credential and the headers have none, the first message must have it.
async fn start(socket: &mut WebSocket, watcher: &mut Watcher, lifetime: &Lifetime) -> Result<Stream, Option<Close>> {
    let mut stream = watcher.watch(lifetime.ends_by).await;
    let needs_credential = matches!(
        stream,
        Err(ApiError::Unauthorized(_) | ApiError::ForbiddenRepository(_))
    );
    if needs_credential && !presents_credential(&watcher.headers) {
        match timeout(watcher.app.events.timing().authentication, next_token(socket)).await {
            Ok(ClientFrame::Token(token)) => {
                watcher.present(&token);
                stream = watcher.watch(lifetime.ends_by).await;
            }
            Ok(ClientFrame::Malformed) => return Err(Some(MALFORMED)),
            Ok(ClientFrame::Gone) => return Err(None),
            // The client gets the error of the first attempt.
            Err(_) => {}
        }
    }
    match stream {
        Ok(stream) => {
            lifetime.keep_connection(watcher);
            Ok(stream)
        }
        // The error would report an unreachable store, and the client would pause before it resumes.
        Err(ApiError::StoreUnavailable(_)) if watcher.app.events.is_closed() => {
            let is_sent = send(socket, Message::ended(StreamEnd::Shutdown)).await;
            Err(is_sent.then(|| close_after(StreamEnd::Shutdown)))
        }
        Err(error) => {
            let code = match error.status() {
                StatusCode::UNAUTHORIZED => 4401,
                StatusCode::FORBIDDEN => 4403,
                StatusCode::NOT_FOUND => 4404,
                status if status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS => 4400,
                _ => 1013,
            };
            let refusal = StreamMessage::Error(StreamError {
                error: error.code(),
                message: error.to_string(),
                retry_after: error.retry_after(),
            });
            let is_sent = send(socket, Message::Stream(refusal)).await;
            Err(is_sent.then_some(Close {
                code,
                reason: "refused",
            }))
        }
    }
}

/// Relays the messages of `stream` to the client until its end.
async fn relay(socket: &mut WebSocket, mut watcher: Watcher, mut stream: Stream) -> Option<Close> {
    loop {
        tokio::select! {
            message = stream.next() => {
                let message = message?;
                let end = match &message {
                    Message::Stream(StreamMessage::StreamEnded(ended)) => Some(ended.reason),
                    _ => None,
                };
                if !send(socket, message).await {
                    return None;
                }
                if let Some(end) = end {
                    return Some(close_after(end));
                }
            }
            frame = next_token(socket) => match frame {
                ClientFrame::Token(token) => {
                    watcher.present(&token);
                    stream.verify_by(watcher.verify());
                }
                ClientFrame::Malformed => return Some(MALFORMED),
                ClientFrame::Gone => return None,
            }
        }
    }
}

fn close_after(end: StreamEnd) -> Close {
    let (code, reason) = match end {
        StreamEnd::Slow => (1013, "slow"),
        StreamEnd::TimeLimit => (4000, "time limit"),
        StreamEnd::Forbidden => (4403, "forbidden"),
        StreamEnd::Shutdown => (1001, "shutdown"),
        StreamEnd::Unavailable => (1013, "unavailable"),
    };
    Close { code, reason }
}

/// Sends `message`. Returns whether it was sent in time.
async fn send(socket: &mut WebSocket, message: Message) -> bool {
    let text: Utf8Bytes = match message {
        Message::Event(event) => event.text.clone(),
        Message::Stream(message) => serde_json::to_string(&message).unwrap_or_default().into(),
    };
    let result = timeout(SEND_TIME, socket.send(Frame::Text(text))).await;
    if result.is_err() {
        tracing::debug!("a client of live events does not read");
    }
    matches!(result, Ok(Ok(())))
}

enum ClientFrame {
    Token(String),
    Malformed,
    Gone,
}

/// The next token of the client. If the future is dropped, nothing is lost.
async fn next_token(socket: &mut WebSocket) -> ClientFrame {
    loop {
        match socket.recv().await {
            Some(Ok(Frame::Text(text))) => {
                return match serde_json::from_str(&text) {
                    Ok(StreamRequest::Authenticate { token }) => ClientFrame::Token(token),
                    Err(_) => ClientFrame::Malformed,
                };
            }
            // An error means a message that is too large, or a lost connection, on which a close has no effect.
            Some(Ok(Frame::Binary(_)) | Err(_)) => return ClientFrame::Malformed,
            // The library responds to these.
            Some(Ok(Frame::Ping(_) | Frame::Pong(_))) => {}
            Some(Ok(Frame::Close(_))) | None => return ClientFrame::Gone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_among_the_subprotocols_is_found() {
        let token = |values: &[&str]| {
            let values = values
                .iter()
                .map(|value| (SEC_WEBSOCKET_PROTOCOL, value.parse().unwrap()));
            find_token(&values.collect())
        };
        assert_eq!(token(&["coord.v1"]), None);
        assert_eq!(token(&["coord.v1, coord.token.Z2hwXzE"]).as_deref(), Some("ghp_1"));
        assert_eq!(token(&["coord.token.%%%"]), None);
        assert_eq!(
            token(&["coord.token.Z2hwXzE", "coord.token.Z2hwXzI"]).as_deref(),
            Some("")
        );
    }
}

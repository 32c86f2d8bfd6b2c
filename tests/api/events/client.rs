//! A client of the stream. Each message is held against the OpenAPI document.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::contract::validate;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Socket,
    ServerSent,
}

impl Kind {
    pub const BOTH: [Kind; 2] = [Kind::Socket, Kind::ServerSent];
}

/// A client with an open stream.
pub enum Client {
    Socket(Box<WebSocketStream<MaybeTlsStream<TcpStream>>>),
    ServerSent(Frames),
}

impl Client {
    /// Opens a stream, whose handshake must succeed.
    pub async fn open(kind: Kind, address: SocketAddr, target: &str, headers: &[(&'static str, &str)]) -> Client {
        match Client::try_open(kind, address, target, headers).await {
            Ok(client) => client,
            Err(status) => panic!("{kind:?} {target}: {status}"),
        }
    }

    /// Opens a stream, or returns the status with which that is refused.
    pub async fn try_open(
        kind: Kind,
        address: SocketAddr,
        target: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Client, StatusCode> {
        if kind == Kind::ServerSent {
            let response = get(address, target, headers).await;
            return match response.status() {
                StatusCode::OK => Ok(Client::ServerSent(Frames::of(response))),
                status => Err(status),
            };
        }
        let mut request = format!("ws://{address}{target}").into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match connect_async(request).await {
            Ok((socket, _)) => Ok(Client::Socket(Box::new(socket))),
            Err(Error::Http(response)) => Err(response.status()),
            Err(error) => panic!("{error}"),
        }
    }

    /// The next message; `None` after the last.
    pub async fn message(&mut self) -> Option<Value> {
        let next = async {
            match self {
                Client::ServerSent(frames) => frames.next().await,
                Client::Socket(socket) => loop {
                    match socket.next().await? {
                        Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                        Ok(Message::Ping(_) | Message::Pong(_)) => {}
                        other => panic!("{other:?}"),
                    }
                },
            }
        };
        let message = tokio::time::timeout(PATIENCE, next).await.expect("a message")?;
        let is_about_the_stream = ["stream_opened", "resync", "heartbeat", "stream_ended", "error"]
            .contains(&message["type"].as_str().unwrap());
        let schema = if is_about_the_stream {
            "StreamMessage"
        } else {
            "PublishedEvent"
        };
        let reference = format!("#/components/schemas/{schema}");
        validate(&json!({ "$ref": reference }), &message).unwrap_or_else(|problem| panic!("{message}: {problem}"));
        Some(message)
    }

    /// The next message that is no heartbeat.
    pub async fn next(&mut self) -> Value {
        loop {
            let message = self.message().await.expect("the stream goes on");
            if message["type"] != "heartbeat" {
                return message;
            }
        }
    }

    /// The next message, which has this type.
    pub async fn expect(&mut self, kind: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["type"], kind, "{message}");
        message
    }

    /// The next `count` events about locks.
    pub async fn lock_events(&mut self, count: usize) -> Vec<Value> {
        let mut events = Vec::new();
        while events.len() < count {
            let message = self.next().await;
            assert!(
                !["resync", "stream_ended", "error"].contains(&message["type"].as_str().unwrap()),
                "{message}"
            );
            if message["type"].as_str().unwrap().starts_with("lock_") {
                events.push(message);
            }
        }
        events
    }

    /// Sends a text on a WebSocket.
    pub async fn send(&mut self, message: Message) {
        let Client::Socket(socket) = self else {
            panic!("clients of server-sent events send nothing")
        };
        socket.send(message).await.unwrap();
    }

    /// Sends a token on a WebSocket.
    pub async fn authenticate(&mut self, token: &str) {
        let message = json!({ "type": "authenticate", "token": token });
        self.send(Message::text(message.to_string())).await;
    }

    /// The code with which the WebSocket is closed now.
    pub async fn close_code(&mut self) -> u16 {
        let Client::Socket(socket) = self else {
            panic!("server-sent events have no code")
        };
        let closed = tokio::time::timeout(PATIENCE, socket.next()).await.expect("a close");
        match closed {
            Some(Ok(Message::Close(Some(frame)))) => frame.code.into(),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the end of the stream: the reason or the error, and on a WebSocket the code.
    pub async fn end(&mut self) -> (String, Option<u16>) {
        loop {
            let message = self.message().await.expect("a reason");
            let reason = match message["type"].as_str().unwrap() {
                "stream_ended" => message["reason"].as_str().unwrap().to_owned(),
                "error" => message["error"].as_str().unwrap().to_owned(),
                _ => continue,
            };
            return match self {
                Client::Socket(_) => (reason, Some(self.close_code().await)),
                Client::ServerSent(_) => {
                    assert_eq!(self.message().await, None, "nothing follows the end");
                    (reason, None)
                }
            };
        }
    }
}

/// Server-sent events of a response.
pub struct Frames {
    response: reqwest::Response,
    bytes: VecDeque<u8>,
}

impl Frames {
    fn of(response: reqwest::Response) -> Frames {
        Frames {
            response,
            bytes: VecDeque::new(),
        }
    }

    async fn next(&mut self) -> Option<Value> {
        loop {
            let end = self.bytes.make_contiguous().windows(2).position(|pair| pair == b"\n\n");
            if let Some(end) = end {
                let frame: Vec<u8> = self.bytes.drain(..end + 2).collect();
                return Some(message_of(std::str::from_utf8(&frame).unwrap()));
            }
            self.bytes.extend(self.response.chunk().await.ok()??);
        }
    }
}

/// The message of a server-sent event, whose other lines say what it says.
fn message_of(frame: &str) -> Value {
    let (mut id, mut event, mut data) = (None, None, None);
    for line in frame.trim_end().lines() {
        let (name, value) = line.split_once(": ").unwrap();
        let field = match name {
            "id" => &mut id,
            "event" => &mut event,
            "data" => &mut data,
            other => panic!("{other}"),
        };
        assert_eq!(field.replace(value), None, "{frame}");
    }
    let message: Value = serde_json::from_str(data.unwrap()).unwrap();
    assert_eq!(event, message["type"].as_str(), "{frame}");
    assert_eq!(id, message["id"].as_str().or(message["cursor"].as_str()), "{frame}");
    message
}

/// Requests `target`, without waiting for the body.
pub async fn get(address: SocketAddr, target: &str, headers: &[(&'static str, &str)]) -> reqwest::Response {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.get(format!("http://{address}{target}"));
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value));
    request.send().await.unwrap()
}

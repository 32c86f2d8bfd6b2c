//! An HTTP server that follows a list of acts, wrong ones above all, and counts requests at the socket.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The treatment of the next request.
pub enum Act {
    /// Answer with these bytes, whole responses as they go over the wire.
    Send(Vec<u8>),
    /// Answer with these bytes and close the connection.
    SendAndClose(Vec<u8>),
    /// Close the connection without a word.
    Close,
    /// Say nothing, and keep the connection.
    Hang,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub head: String,
    pub body: String,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

pub struct Fake {
    port: u16,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Fake {
    pub async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let acts = Arc::new(Mutex::new(VecDeque::from(acts)));
        tokio::spawn({
            let seen = seen.clone();
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream, acts.clone(), seen.clone()));
                }
            }
        });
        Fake { port, seen }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, acts: Arc<Mutex<VecDeque<Act>>>, seen: Arc<Mutex<Vec<ReceivedRequest>>>) {
    while let Some(request) = read(&mut stream).await {
        seen.lock().unwrap().push(request);
        let act = acts.lock().unwrap().pop_front().unwrap_or(Act::Close);
        match act {
            Act::Send(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::SendAndClose(bytes) => {
                let _ = stream.write_all(&bytes).await;
                return;
            }
            Act::Close => return,
            // time: a server that never responds.
            Act::Hang => tokio::time::sleep(Duration::from_secs(60)).await,
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let mut seen = ReceivedRequest {
        head,
        body: String::new(),
    };
    let length: usize = seen
        .header("content-length")
        .and_then(|value| value.parse().ok())
        .unwrap_or(0);
    while bytes.len() < head_end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    seen.body = String::from_utf8_lossy(&bytes[head_end..head_end + length]).into_owned();
    Some(seen)
}

/// A whole response with a status line such as `200 OK`.
pub fn response(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A 200 with `body`.
pub fn ok(body: &str) -> Act {
    Act::Send(response("200 OK", "content-type: application/json\r\n", body))
}

//! Clients that hold connections, or send slowly, and pages that send through a browser.
//!
//! - `held`: sockets, heads, bodies and streams by the hundred
//! - `pages`: what a page of another site can send to a server of this machine

mod held;
mod pages;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use coord_serve::ServeArgs;
use coord_serve::listen::{Bounds, ConnectionSlots, serve_within};
use coord_settings::connections::ConnectionConfig;
use coord_test_support::git::Repo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How many connections the server of a test has.
const MAX_CONNECTIONS: usize = 64;
/// Much longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const QUERY: &str = "repo_url=https://github.com/acme/shop&branch=main";

fn few_slots() -> Arc<ConnectionSlots> {
    ConnectionSlots::new(ConnectionConfig {
        max_connections: MAX_CONNECTIONS,
        ..ConnectionConfig::default()
    })
}

/// Heads and bodies may take longer than any test, so that nothing makes room by its own end.
const PATIENT: Bounds = Bounds {
    head_time: Duration::from_secs(600),
    head_bytes: 64 * 1024,
    write_time: Duration::from_secs(600),
};

async fn listen(slots: &Arc<ConnectionSlots>, router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve_within(
        PATIENT,
        Arc::clone(slots),
        listener,
        router,
        std::future::pending(),
    ));
    address
}

/// `coord serve` on a loopback address, over a repository of a few files.
struct Local {
    address: SocketAddr,
    head: String,
    _folder: tempfile::TempDir,
}

impl Local {
    async fn start(slots: &Arc<ConnectionSlots>) -> Local {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path().join("shop"), &[]);
        repo.git(&["remote", "add", "origin", "https://github.com/acme/shop.git"]);
        let head = repo.commit(&[("a.ts", ""), ("b.ts", "")]);
        let args = ServeArgs {
            repo: vec![repo.path().to_owned()],
            data_dir: Some(folder.path().join("data")),
            ..ServeArgs::default()
        };
        let loopback = SocketAddr::from(([127, 0, 0, 1], 3000));
        let server = coord_serve::build(&args, loopback).await.unwrap();
        Local {
            address: listen(slots, server.router).await,
            head,
            _folder: folder,
        }
    }
}

/// Sends `request`, and leaves the connection open.
async fn send(address: SocketAddr, request: &str) -> TcpStream {
    let mut connection = TcpStream::connect(address).await.unwrap();
    // A server that has no place may be gone already.
    let _ = connection.write_all(request.as_bytes()).await;
    connection
}

/// Reads until `end` arrives, or the connection ends.
async fn read_until(connection: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    let reading = async {
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(&text).contains(end) {
            match connection.read(&mut buffer).await {
                Ok(count @ 1..) => text.extend(&buffer[..count]),
                Ok(0) | Err(_) => break,
            }
        }
    };
    tokio::time::timeout(PATIENCE, reading)
        .await
        .expect("something comes, or an end");
    String::from_utf8_lossy(&text).into_owned()
}

/// The status of the response to `request`.
async fn status(address: SocketAddr, request: &str) -> u16 {
    let mut connection = send(address, request).await;
    let answer = read_until(&mut connection, "\r\n").await;
    let status = answer.split(' ').nth(1).unwrap_or_default();
    status.parse().unwrap_or_else(|_| panic!("{request:?}: {answer:?}"))
}

//! Connections that are held: whoever holds them keeps nobody else out.

use coord_test_support::embedded;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::StatusCode;
use coord_auth::Authenticator;
use coord_serve::listen::ConnectionSlots;
use coord_server::app::App;
use coord_settings::connections::ConnectionConfig;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use super::{Local, MAX_CONNECTIONS, QUERY, few_slots, listen, read_until, send, status};

const HEALTH: &str = "GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// How often a client holds as many connections as there are.
const TIMES: usize = 8;

async fn hold(address: SocketAddr, request: &str) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for _ in 0..TIMES * MAX_CONNECTIONS {
        held.push(send(address, request).await);
    }
    held
}

/// How many of `held` are still open, where the others were cut off.
async fn open(held: &mut [TcpStream]) -> usize {
    let mut open = 0;
    for connection in held {
        let mut buffer = [0; 1024];
        let is_open = loop {
            match connection.try_read(&mut buffer) {
                Ok(1..) => {}
                Ok(0) => break false,
                Err(error) => break error.kind() == std::io::ErrorKind::WouldBlock,
            }
        };
        open += usize::from(is_open);
    }
    open
}

#[tokio::test]
async fn sockets_slow_heads_and_slow_bodies_keep_no_other_client_out() {
    let slots = few_slots();
    let local = Local::start(&slots).await;
    let body = "POST /api/check_status HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                content-length: 1000\r\n\r\n{";
    for request in ["", "G", "POST /api/check_status HTTP/1.1\r\nhost: loc", body, HEALTH] {
        let mut held = hold(local.address, request).await;
        assert_eq!(status(local.address, HEALTH).await, 200, "{request:?}");
        // The system tells of the end of a connection a moment later than of an answer.
        coord_test_support::waiting::until("the oldest have made room", async || {
            open(&mut held).await <= MAX_CONNECTIONS
        })
        .await;
    }
}

#[tokio::test]
async fn heads_that_come_byte_by_byte_keep_no_other_client_out() {
    let slots = few_slots();
    let local = Local::start(&slots).await;
    let mut held = Vec::new();
    for byte in "GET /api/he".bytes() {
        for connection in &mut held {
            let connection: &mut TcpStream = connection;
            let _ = connection.write_all(&[byte]).await;
        }
        for _ in 0..MAX_CONNECTIONS {
            held.push(send(local.address, "G").await);
        }
        assert_eq!(status(local.address, HEALTH).await, 200);
    }
}

#[tokio::test]
async fn streams_of_agents_outlive_a_flood_of_connections() {
    let slots = few_slots();
    let local = Local::start(&slots).await;
    let watch = format!("GET /api/events?{QUERY} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let mut streams = Vec::new();
    for _ in 0..50 {
        let mut stream = send(local.address, &watch).await;
        let opened = read_until(&mut stream, "stream_opened").await;
        assert!(opened.contains("stream_opened"), "{opened}");
        streams.push(stream);
    }
    let mut held = hold(local.address, "GET / HT").await;
    let claim = json!({
        "repo_url": "https://github.com/acme/shop", "branch": "main", "agent_head": local.head, "file_paths": ["a.ts"],
        "status": "WRITING", "message": "Beside a flood",
    })
    .to_string();
    let claim = format!(
        "POST /api/post_status HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{claim}",
        claim.len()
    );
    assert_eq!(status(local.address, &claim).await, 200);
    for stream in &mut streams {
        let events = read_until(stream, "Beside a flood").await;
        assert!(events.contains("Beside a flood"), "{events}");
    }
    assert!(open(&mut held).await < MAX_CONNECTIONS);
}

#[tokio::test]
async fn sockets_without_a_credential_are_evicted_after_their_upgrade_too() {
    let slots = few_slots();
    let app = App::new(
        &coord_extensions::default_settings(),
        Arc::new(embedded::in_memory()),
        Authenticator::by_jwt(None),
    );
    let address = listen(&slots, coord_http::router(app, coord_extensions::endpoints())).await;
    let upgrade = format!(
        "GET /api/events?{QUERY} HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let mut held = Vec::new();
    for _ in 0..2 * MAX_CONNECTIONS {
        let mut socket = send(address, &upgrade).await;
        let answer = read_until(&mut socket, "\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
        held.push(socket);
    }
    let unauthorized = format!("GET /api/graph?{QUERY} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert_eq!(status(address, &unauthorized).await, StatusCode::UNAUTHORIZED.as_u16());
}

#[tokio::test]
async fn one_address_takes_its_share_of_the_connections_and_no_other_address_loses_one() {
    const OF_ADDRESS: usize = 16;
    let slots = ConnectionSlots::new(ConnectionConfig {
        max_connections: MAX_CONNECTIONS,
        max_per_address: OF_ADDRESS,
        counts_loopback: true,
        ..ConnectionConfig::default()
    });
    let local = Local::start(&slots).await;
    let from = async |host: u8| {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from(([127, 0, 0, host], 0))).unwrap();
        socket.connect(local.address).await.unwrap()
    };
    let mut others = Vec::new();
    for host in [3, 4] {
        for _ in 0..OF_ADDRESS {
            others.push(from(host).await);
        }
    }
    let mut flood = Vec::new();
    for _ in 0..TIMES * MAX_CONNECTIONS {
        flood.push(from(2).await);
    }
    // The server has accepted all of them once one that came later is answered.
    assert_eq!(status(local.address, HEALTH).await, 200);
    coord_test_support::waiting::until("the address keeps its share", async || {
        open(&mut flood).await <= OF_ADDRESS
    })
    .await;
    for connection in &mut others {
        connection.write_all(HEALTH.as_bytes()).await.unwrap();
        let answer = read_until(connection, "\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?}");
    }
}

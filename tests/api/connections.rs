//! Connections that are slow, idle, or send too much.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use coord_serve::listen::{Bounds, ConnectionSlots, serve_within};
use coord_settings::connections::ConnectionConfig;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::api::Api;

/// Sends `request` as it is, and reads until the other side ends the connection.
pub async fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut connection = TcpStream::connect(address).await.unwrap();
    // A server that has seen enough may be gone before all is sent.
    let _ = connection.write_all(request).await;
    rest(&mut connection).await
}

/// Reads the rest of the connection until it ends.
async fn rest(connection: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    let reading = async {
        // A connection that is reset has ended as well.
        while let Ok(count @ 1..) = connection.read(&mut buffer).await {
            answer.extend(&buffer[..count]);
        }
    };
    tokio::time::timeout(Duration::from_secs(60), reading)
        .await
        .expect("the connection ends");
    String::from_utf8_lossy(&answer).into_owned()
}

/// Serves `router` within `bounds` on a free port.
async fn listen_within(bounds: Bounds, router: axum::Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let slots = ConnectionSlots::new(ConnectionConfig::default());
    tokio::spawn(serve_within(bounds, slots, listener, router, std::future::pending()));
    address
}

/// A server with a moment for a head.
async fn impatient() -> Api {
    let api = Api::start().await;
    let bounds = Bounds {
        head_time: Duration::from_millis(300),
        ..Bounds::default()
    };
    let state = crate::api::state(api.store.clone(), &[api.git.path().to_owned()]);
    let address = listen_within(bounds, coord_http::router(state, coord_extensions::endpoints())).await;
    let store = api.store.clone();
    // The first server lives on, and with it the folder of both.
    let elsewhere = api.elsewhere(address, store);
    std::mem::forget(api);
    elsewhere
}

// rule: http#connections
#[tokio::test]
async fn a_head_that_trickles_in_is_cut_off_in_time() {
    let api = impatient().await;
    let mut connection = TcpStream::connect(api.address).await.unwrap();
    let started = Instant::now();
    let trickle = async {
        let head = format!(
            "GET /api/health HTTP/1.1\r\nhost: localhost\r\nx: {}",
            "y".repeat(10_000)
        );
        for byte in head.bytes() {
            if connection.write_all(&[byte]).await.is_err() {
                return;
            }
            // time: a head that arrives slowly.
            tokio::time::sleep(Duration::from_millis(20)).await;
            let mut buffer = [0; 1024];
            match connection.try_read(&mut buffer) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), trickle)
        .await
        .expect("the connection is cut off");
    assert!(started.elapsed() >= Duration::from_millis(250));
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_eq!(api.get("/api/health", &[]).await.status, 200);
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let api = impatient().await;
    let mut silent = TcpStream::connect(api.address).await.unwrap();
    assert!(rest(&mut silent).await.is_empty());
    // And so is one that has said something before.
    let mut idle = TcpStream::connect(api.address).await.unwrap();
    idle.write_all(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n")
        .await
        .unwrap();
    assert!(rest(&mut idle).await.starts_with("HTTP/1.1 200 "));
}

// rule: http#connections
#[tokio::test]
async fn a_client_that_reads_nothing_is_cut_off() {
    const SIZE: usize = 64 << 20;
    let bounds = Bounds {
        write_time: Duration::from_millis(300),
        ..Bounds::default()
    };
    let answer = axum::routing::get(async || vec![b'x'; SIZE]);
    let address = listen_within(bounds, axum::Router::new().route("/", answer)).await;
    let ask = async |pause: Duration| {
        let mut connection = TcpStream::connect(address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        connection.write_all(request).await.unwrap();
        // time: a client that reads slowly.
        tokio::time::sleep(pause).await;
        rest(&mut connection).await.len()
    };
    assert!(ask(Duration::ZERO).await > SIZE);
    let taken = ask(Duration::from_secs(2)).await;
    assert!(taken < SIZE, "{taken} bytes came");
}

#[tokio::test]
async fn many_slow_connections_block_no_other_caller() {
    let api = Api::start().await;
    let mut slow = Vec::new();
    for _ in 0..500 {
        let mut connection = TcpStream::connect(api.address).await.unwrap();
        connection
            .write_all(b"POST /api/check_status HTTP/1.1\r\n")
            .await
            .unwrap();
        slow.push(connection);
    }
    assert_eq!(api.check("ann", &["src/auth.ts"], json!({})).await.status, 200);
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let api = Api::start().await;
    let head = |path: &str, headers: &str| format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    let long = "x".repeat(100_000);
    let many: String = (0..200).map(|number| format!("x-{number}: y\r\n")).collect();
    for (name, request) in [
        ("a long header", head("/api/health", &format!("x: {long}\r\n"))),
        ("many headers", head("/api/health", &many)),
        ("a long path", head(&format!("/{long}"), "")),
        ("a long name", head("/api/health", &format!("{long}: x\r\n"))),
    ] {
        let answer = exchange(api.address, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 431 "), "{name}: {answer}");
    }
    // If a request fits into the head, the server itself answers it.
    let query = "x".repeat(20_000);
    let get = api.get(&format!("/api/graph?focus={query}"), &[]).await;
    get.expect("414 URI_TOO_LONG");
    let post = format!("/api/check_status?{query}");
    let post = api.post("ann", &post, &json!({})).await;
    post.expect("414 URI_TOO_LONG STOP");
    assert_eq!(api.get("/api/health", &[]).await.status, 200);
}

#[tokio::test]
async fn a_request_that_is_no_http_is_refused() {
    let api = Api::start().await;
    for request in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\x00\x00\x00\x00\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /api/health HTTP/9.9\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n",
        b"POST /api/check_status HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"POST /api/check_status HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: rot13\r\n\r\nhello",
        b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nbad header: x\r\n\r\n",
    ] {
        let answer = exchange(api.address, request).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4") || answer.starts_with("HTTP/1.1 5"),
            "{request:?}: {answer}"
        );
    }
    assert_eq!(api.get("/api/health", &[]).await.status, 200);
}

#[tokio::test]
async fn a_client_that_keeps_sending_gets_body_too_large() {
    let api = Api::start().await;
    // As Python's client does it: all is sent before anything is read.
    let mut connection = TcpStream::connect(api.address).await.unwrap();
    let length = 24 << 20;
    let head = format!(
        "POST /api/check_status HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let piece = vec![b'x'; 64 * 1024];
    for _ in 0..length / piece.len() {
        connection
            .write_all(&piece)
            .await
            .expect("it is taken, although nobody wants it");
    }
    let answer = rest(&mut connection).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("BODY_TOO_LARGE"), "{answer}");
}

#[tokio::test]
async fn requests_that_arrived_before_a_shutdown_are_answered() {
    for _ in 0..20 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = axum::Router::new().route("/", axum::routing::get(async || "answered"));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let server = tokio::spawn(coord_serve::listen::serve(listener, router, async move {
            let _ = stopped.await;
        }));
        let request = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
        // One that was served before, one that was opened and said nothing, and one that the server has not met.
        let mut old = TcpStream::connect(address).await.unwrap();
        old.write_all(request).await.unwrap();
        let mut buffer = [0; 1024];
        assert!(old.read(&mut buffer).await.unwrap() > 0);
        let mut silent = TcpStream::connect(address).await.unwrap();
        // Nothing else runs between these: this is a runtime of one thread.
        let mut new = std::net::TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut new, request).unwrap();
        old.try_write(request).unwrap();
        stop.send(()).unwrap();
        new.set_nonblocking(true).unwrap();
        let mut new = TcpStream::from_std(new).unwrap();
        for connection in [&mut old, &mut new] {
            let answer = rest(connection).await;
            assert!(answer.ends_with("answered"), "{answer:?}");
        }
        assert_eq!(rest(&mut silent).await, "", "nobody waits for one that says nothing");
        server.await.unwrap();
    }
}

//! Streams of events on a server that stops, that is idle, or that has no room for more connections.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use coord_test_support::process::{Coord, REPO_URL, ServerFolder};
use coord_test_support::waiting::block_until;

const UPGRADE: &str = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                       sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// A stream that was asked for.
fn stream(coord: &Coord, headers: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(coord.address).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(2))).expect("set");
    let request = format!("GET /api/events?repo_url={REPO_URL} HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    // A server without a place for it may have closed the connection.
    let _ = stream.write_all(request.as_bytes());
    BufReader::new(stream)
}

/// The first line of the response; none where the connection was reset.
fn status(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().map(|_| line.trim().to_owned())
}

/// Waits for the first message of a socket: its caller is admitted.
fn first_message(socket: &mut BufReader<TcpStream>) {
    while status(socket).is_some_and(|line| !line.is_empty()) {}
    assert!(!socket.fill_buf().expect("a message").is_empty());
}

#[test]
fn a_server_that_stops_ends_its_streams_at_once() {
    let place = ServerFolder::new(crate::COORD);
    let mut coord = place.serve();
    let (mut sent, mut socket) = (stream(&coord, ""), stream(&coord, UPGRADE));
    assert_eq!(status(&mut sent).as_deref(), Some("HTTP/1.1 200 OK"));
    assert_eq!(status(&mut socket).as_deref(), Some("HTTP/1.1 101 Switching Protocols"));
    first_message(&mut socket);
    let began = Instant::now();
    coord.terminate();
    let (mut text, mut bytes) = (String::new(), Vec::new());
    sent.read_to_string(&mut text).expect("its end");
    assert!(text.contains(r#""reason":"SHUTDOWN""#), "{text}");
    socket.read_to_end(&mut bytes).expect("its end");
    // A close frame: its length, the code 1001, the reason.
    let close = [&[0x88, 10][..], &1001_u16.to_be_bytes(), b"shutdown"].concat();
    assert!(bytes.ends_with(&close), "{bytes:?}");
    assert!(coord.wait().success());
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

/// A request with a JSON body, whose answer ends the connection.
fn post(coord: &Coord, path: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(coord.address).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
    let length = body.len();
    let head = "host: localhost\r\ncontent-type: application/json\r\nconnection: close";
    let request = format!("POST {path} HTTP/1.1\r\n{head}\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).expect("sent");
    stream
}

fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

#[test]
fn a_server_that_stops_answers_its_polls_at_once() {
    let place = ServerFolder::new(crate::COORD);
    let mut coord = place.serve();
    let about = format!(r#""repo_url":"{REPO_URL}","agent_id":"lead""#);
    let made = answer(post(&coord, "/api/teams", &format!(r#"{{{about},"name":"alpha"}}"#)));
    assert!(made.starts_with("HTTP/1.1 200 OK"), "{made}");
    let poll = post(&coord, "/api/messages/read", &format!(r#"{{{about},"wait":20}}"#));
    // It waits by then.
    // time: the poll waits when the server is asked to stop.
    std::thread::sleep(Duration::from_secs(1));
    let began = Instant::now();
    coord.terminate();
    let inbox = answer(poll);
    assert!(
        inbox.starts_with("HTTP/1.1 200 OK") && inbox.contains(r#""messages":[]"#),
        "{inbox}"
    );
    assert!(coord.wait().success());
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
}

#[test]
fn a_server_that_is_watched_is_not_idle() {
    let place = ServerFolder::new(crate::COORD);
    let data = place.data().display().to_string();
    let mut coord = place.serve_on(&["--data-dir", &data, "--exit-when-idle", "2"], "");
    let mut socket = stream(&coord, UPGRADE);
    assert_eq!(status(&mut socket).as_deref(), Some("HTTP/1.1 101 Switching Protocols"));
    // time: longer than the idle limit.
    std::thread::sleep(Duration::from_secs(5));
    assert!(coord.listens());
    drop(socket);
    let left = Instant::now();
    assert!(coord.wait().success());
    assert!(left.elapsed() < Duration::from_secs(20), "{:?}", left.elapsed());
}

#[test]
fn a_socket_counts_as_a_connection_for_as_long_as_it_is_open() {
    let place = ServerFolder::new(crate::COORD);
    // A quarter of the files is kept for other uses.
    let coord = place.serve_after("ulimit -n 80");
    let mut sockets = Vec::new();
    loop {
        let mut socket = stream(&coord, UPGRADE);
        // None of them makes room: they are streams of a person. The reset may overtake the response.
        match status(&mut socket).as_deref() {
            None | Some("" | "HTTP/1.1 503 Service Unavailable") => break,
            line => assert_eq!(line, Some("HTTP/1.1 101 Switching Protocols")),
        }
        // Until then it makes room.
        first_message(&mut socket);
        sockets.push(socket);
        assert!(sockets.len() <= 60, "more than there is room for");
    }
    assert!(sockets.len() >= 55, "{}", sockets.len());
    sockets.pop();
    block_until("the next has its place", || {
        let opened = status(&mut stream(&coord, UPGRADE));
        opened.as_deref() == Some("HTTP/1.1 101 Switching Protocols")
    });
}

//! A stranger between the client and the server, who sees each request before the server does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::TeamClone;

/// Runs `during` with the address of a server that passes each request on to that of `place`, where `admits` says so of its method and
/// path; where not, the connection ends without an answer.
pub fn between<T>(place: &TeamClone, admits: impl Fn(&str) -> bool + Sync, during: impl FnOnce(&str) -> T) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap();
    let there = place.address().trim_start_matches("http://").to_owned();
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for connection in listener.incoming() {
                if is_done.load(Ordering::Acquire) {
                    return;
                }
                let (connection, there, admits) = (connection.unwrap(), &there, &admits);
                scope.spawn(move || pass_on(connection, there, admits));
            }
        });
        // At a panic, too.
        let _end = End(&is_done, here);
        during(&format!("http://{here}"))
    })
}

struct End<'a>(&'a AtomicBool, SocketAddr);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        drop(TcpStream::connect(self.1));
    }
}

/// One request of a connection, which then ends.
fn pass_on(mut connection: TcpStream, there: &str, admits: impl Fn(&str) -> bool) -> Option<()> {
    let mut request = Vec::new();
    let mut part = [0; 16 << 10];
    let head = loop {
        if let Some(at) = request.windows(4).position(|end| end == b"\r\n\r\n") {
            break at + 4;
        }
        let read = connection.read(&mut part).ok().filter(|read| *read > 0)?;
        request.extend_from_slice(&part[..read]);
    };
    let lines = String::from_utf8(request[..head].to_vec()).ok()?;
    let length = lines.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    while request.len() < head + length.unwrap_or_default() {
        let read = connection.read(&mut part).ok().filter(|read| *read > 0)?;
        request.extend_from_slice(&part[..read]);
    }
    let first = lines.lines().next()?;
    if !admits(first.trim_end_matches(" HTTP/1.1")) {
        return None;
    }
    let mut server = TcpStream::connect(there).ok()?;
    server
        .write_all(format!("{first}\r\nconnection: close\r\n").as_bytes())
        .ok()?;
    server.write_all(&request[first.len() + 2..]).ok()?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).ok()?;
    connection.write_all(&answer).ok()
}

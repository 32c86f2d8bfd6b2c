//! A real redis-server for all tests of one binary.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::skipping;

/// The name and password of a user who may not use functions.
const WITHOUT_FUNCTIONS: &str = "scripts";

/// Databases of the shared server: more than a binary has tests.
const DATABASES: u32 = 4096;

/// Runs redis-server until standard input ends, which it does when the tests are over, however they end: a server that was
/// a plain child would outlive a process that is killed, or that keeps it in a static.
const UNTIL_STDIN_ENDS: &str = r#"redis-server "$@" >/dev/null 2>&1 & read -r _; kill $!"#;

/// The URL of an empty database of the shared server. None when redis-server is not installed: the test is skipped.
pub fn empty_database() -> Option<String> {
    static PORT: OnceLock<Option<u16>> = OnceLock::new();
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let Some(port) = PORT.get_or_init(start) else {
        skipping::skip("redis-server is not installed");
        return None;
    };
    let database = NEXT.fetch_add(1, Ordering::Relaxed);
    assert!(database < DATABASES, "more tests than databases");
    Some(format!("redis://127.0.0.1:{port}/{database}"))
}

/// The same for a user who may not use functions: scripts run by EVALSHA.
pub fn empty_database_without_functions() -> Option<String> {
    let url = empty_database()?;
    Some(url.replace("redis://", &format!("redis://{WITHOUT_FUNCTIONS}:{WITHOUT_FUNCTIONS}@")))
}

/// Starts a server that ends with this process; None when there is no redis-server.
#[expect(
    clippy::zombie_processes,
    reason = "the shell ends after this process, for which it waits"
)]
pub fn start() -> Option<u16> {
    if Command::new("redis-server").arg("--version").output().is_err() {
        return None;
    }
    // A port that is free now may be taken a moment later; the server that then cannot listen ends at once.
    for _ in 0..5 {
        let port = free_port();
        let mut process = Command::new("sh")
            .args(["-c", UNTIL_STDIN_ENDS, "sh", "--port", &port.to_string()])
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(["--databases", &DATABASES.to_string(), "--dir"])
            .arg(std::env::temp_dir())
            .stdin(Stdio::piped())
            .spawn()
            .expect("these tests need a shell");
        let stdin = process.stdin.take().expect("a pipe");
        if answers(port) {
            // Open until this process ends.
            std::mem::forget(stdin);
            return Some(port);
        }
        drop(stdin);
        process.wait().expect("the shell ends");
    }
    panic!("redis-server does not start");
}

fn answers(port: u16) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", port)) {
            let user =
                format!("ACL SETUSER {WITHOUT_FUNCTIONS} on >{WITHOUT_FUNCTIONS} ~* &* +@all -fcall -function\r\n");
            let mut answer = [0; 5];
            return stream.write_all(user.as_bytes()).is_ok()
                && stream.read_exact(&mut answer).is_ok()
                && answer == *b"+OK\r\n";
        }
        // time: between two attempts.
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// A port without a listener, another one each time: a later caller may be there before a server listens on the last.
pub fn free_port() -> u16 {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        if GIVEN.lock().expect("the ports").insert(port) {
            return port;
        }
    }
}

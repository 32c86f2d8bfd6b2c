//! A redis-server that keeps what it has answered, and can be killed.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub struct Redis {
    pub port: u16,
    folder: TempDir,
    process: Child,
}

impl Redis {
    pub fn start() -> Redis {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let folder = tempfile::tempdir().expect("a folder");
        let process = spawn(port, &folder);
        let redis = Redis { port, folder, process };
        redis.until_it_answers();
        redis
    }

    /// kill -9.
    pub fn kill(&mut self) {
        self.process.kill().expect("killed");
        self.process.wait().expect("gone");
    }

    pub fn start_again(&mut self) {
        self.process = spawn(self.port, &self.folder);
        self.until_it_answers();
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.process.id().to_string()])
            .status();
        assert!(sent.expect("kill is there").success(), "SIG{name} was sent");
    }

    /// Gives a command, which must be answered by OK.
    pub fn command(&self, words: &[&str]) {
        let answer = self.ask(words).expect("redis-server is there");
        assert!(answer.starts_with("+OK"), "{words:?}: {answer}");
    }

    fn ask(&self, words: &[&str]) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        stream.write_all(request.as_bytes())?;
        let mut answer = [0; 512];
        let count = stream.read(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer[..count]).into_owned())
    }

    fn until_it_answers(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !self.ask(&["PING"]).is_ok_and(|answer| answer.starts_with("+PONG")) {
            assert!(Instant::now() < deadline, "redis-server does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What is answered is on the disk: it says `appendfsync always`.
fn spawn(port: u16, folder: &TempDir) -> Child {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
        .args(["--appendonly", "yes", "--appendfsync", "always", "--dir"])
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is installed")
}

//! Real Redis servers, each in a temporary folder.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::redis::free_port;
use crate::skipping::skip;
use crate::waiting::block_until;

const LOG: &str = "log";

pub struct RealRedis {
    port: u16,
    options: Vec<String>,
    folder: TempDir,
    process: Option<Child>,
}

impl RealRedis {
    /// Starts one on a free port with `options`, such as `["--requirepass", "x"]`. None when redis-server is not installed: the
    /// test is skipped.
    pub fn start(options: &[&str]) -> Option<Self> {
        let started = Self::start_if_installed(options);
        if started.is_none() {
            skip("redis-server is not installed");
        }
        started
    }

    /// The same outside of tests.
    pub fn start_if_installed(options: &[&str]) -> Option<Self> {
        if Command::new("redis-server").arg("--version").output().is_err() {
            return None;
        }
        let mut server = RealRedis {
            port: free_port(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            folder: tempfile::tempdir().expect("a folder"),
            process: None,
        };
        // Another process may have taken the port meanwhile.
        for _ in 0..5 {
            if server.run() {
                return Some(server);
            }
            server.port = free_port();
        }
        panic!("redis-server has ended: {}", server.log());
    }

    /// Starts it (again), on the same port, and waits until it has read its data from disk. Returns whether it runs.
    pub fn run(&mut self) -> bool {
        let port = self.port.to_string();
        let is_tls = self.options.iter().any(|option| option == "--tls-cert-file");
        let ports = if is_tls {
            ["--port", "0", "--tls-port", &port]
        } else {
            ["--port", &port, "--tls-port", "0"]
        };
        let log = self.folder.path().join(LOG);
        std::fs::write(&log, "").expect("an empty log");
        let started = Command::new("redis-server")
            .args(ports)
            .arg("--logfile")
            .arg(log)
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir"])
            .arg(self.folder.path())
            .args(&self.options)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut process = started.expect("redis-server starts");
        // Its own word, because a connection may reach another process.
        let (mut listens, mut has_ended) = (false, false);
        block_until("redis-server listens", || {
            has_ended = process.try_wait().expect("a state").is_some();
            listens = self.log().contains("Ready to accept connections");
            listens || has_ended
        });
        self.process = Some(process);
        listens && !has_ended
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.folder.path().join(LOG)).expect("a log")).into_owned()
    }

    /// Kills it, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("killed");
            process.wait().expect("gone");
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.id().to_string()])
            .status();
        assert!(sent.expect("kill is there").success(), "SIG{name} was sent");
    }

    pub fn id(&self) -> u32 {
        self.process.as_ref().expect("it runs").id()
    }

    /// Gives a command, which must be answered by OK.
    pub fn command(&self, words: &[&str]) {
        let answer = self.answer(words);
        assert!(answer.starts_with("+OK"), "{words:?}: {answer}");
    }

    /// The first bytes of the answer to a command.
    pub fn answer(&self, words: &[&str]) -> String {
        self.ask(words).expect("redis-server is there")
    }

    fn ask(&self, words: &[&str]) -> std::io::Result<String> {
        let mut stream = self.send(words)?;
        let mut answer = [0; 512];
        let count = stream.read(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer[..count]).into_owned())
    }

    /// Gives a command, and leaves its answer to be read.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub fn send(&self, words: &[&str]) -> std::io::Result<TcpStream> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        stream.write_all(request.as_bytes())?;
        Ok(stream)
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for RealRedis {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// A certificate for localhost and 127.0.0.1, with its key, in `folder`: `ca.der`, `cert.pem`, `key.pem`.
pub fn make_certificate(folder: &Path) -> bool {
    let script = r#"
        set -e
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=test-ca \
            -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign -keyout ca.key -out ca.pem
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout key.pem -out cert.csr
        printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:false\n' > extensions
        openssl x509 -req -in cert.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out cert.pem
        openssl x509 -in ca.pem -outform DER -out ca.der
    "#;
    let made = Command::new("sh").args(["-c", script]).current_dir(folder).output();
    made.is_ok_and(|output| output.status.success())
}

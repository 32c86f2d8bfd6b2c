//! `coord serve` as a process: what keeps it from starting, and what it writes on the terminal.

mod addresses;
mod banner;
mod demo;
mod documents;
mod fetching;
mod manual;
mod page;
mod references;
mod rules;
mod security;
mod texts;
mod words;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use coord_test_support::git::Repo;

/// `coord serve` for a repository in `folder`, with no settings of whoever runs the tests.
fn serve_with(folder: &Path, words: &[&str], environment: &[(&str, &str)]) -> Command {
    let data = folder.join("data").display().to_string();
    serve_on(folder, &["--data-dir", &data], words, environment)
}

/// The same, with the options that name its store.
fn serve_on(folder: &Path, store: &[&str], words: &[&str], environment: &[(&str, &str)]) -> Command {
    let repository = folder.join("repository");
    if !repository.exists() {
        let repo = Repo::init(repository.clone(), &[]);
        repo.git(&["remote", "add", "origin", "https://github.com/team/project"]);
        repo.commit(&[("a.txt", "a")]);
        assert_eq!(repo.path(), repository);
    }
    let mut command = Command::new(crate::COORD);
    for (name, _) in std::env::vars() {
        if name.starts_with("COORD_") || name == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command
        .env("XDG_STATE_HOME", folder.join("state"))
        .arg("serve")
        .args(words)
        .arg("--repo")
        .arg(&repository)
        .args(store)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The same, where it listens on a port that was free a moment ago.
fn serve(folder: &Path, environment: &[(&str, &str)]) -> (Command, SocketAddr) {
    let address = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port");
    let command = serve_with(folder, &["--listen", &address.to_string()], environment);
    (command, address)
}

/// A `coord serve` that has said where it listens; killed when dropped.
struct Running {
    process: Child,
    address: String,
    stdout: BufReader<ChildStdout>,
}

impl Running {
    fn start(mut command: Command) -> Running {
        let mut process = command.spawn().expect("coord starts");
        let mut stdout = BufReader::new(process.stdout.take().expect("its output"));
        let mut lines = stdout.by_ref().lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix("Coord listens on http://").map(str::to_owned));
        let address = address.expect("coord has not said where it listens");
        Running {
            process,
            address,
            stdout,
        }
    }

    fn id(&self) -> u32 {
        self.process.id()
    }

    /// The answer to a GET, in whole.
    fn get(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        exchange(&self.address, &request).expect("it listens")
    }
}

/// Returns the whole answer of a server to a request; None if nobody listens.
fn exchange(address: &str, request: &str) -> Option<String> {
    let mut connection = TcpStream::connect(address).ok()?;
    connection.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("an answer");
    Some(answer)
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_setting_that_cannot_be_used_keeps_it_from_starting() {
    let folder = tempfile::tempdir().expect("a folder");
    for (variable, value) in [
        ("COORD_CORS_ORIGINS", "*"),
        ("COORD_CORS_ORIGINS", "https://a.example,b.example"),
        ("COORD_LOCK_TTL_SECONDS", "0"),
        ("COORD_REPOSITORIES", "acme"),
    ] {
        let (mut command, _) = serve(folder.path(), &[(variable, value)]);
        let Output { status, stderr, .. } = command.output().expect("coord runs");
        let stderr = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(1), "{variable}={value}: {stderr}");
        assert!(stderr.starts_with(&format!("coord: {variable} must ")), "{stderr}");
    }
}

#[test]
fn a_repository_that_the_setting_does_not_list_keeps_it_from_starting() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut command, _) = serve(folder.path(), &[("COORD_REPOSITORIES", "acme/*")]);
    let Output { status, stderr, .. } = command.output().expect("coord runs");
    let stderr = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with("coord: github.com/team/project is not among the repositories of COORD_REPOSITORIES"),
        "{stderr}"
    );
    let listed = [("COORD_REPOSITORIES", "team/*")];
    Running::start(serve_with(folder.path(), &["--port", "0"], &listed));
}

/// Returns the standard error after some requests.
fn written(environment: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut command, address) = serve(folder.path(), environment);
    let mut process = command.spawn().expect("coord starts");
    // It listens when it has said where.
    let mut stdout = BufReader::new(process.stdout.take().expect("its output"));
    let mut line = String::new();
    while !line.contains(&address.to_string()) {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).expect("its output"), 0, "coord ended");
    }
    for request in [
        "GET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-request-id: mine\r\n\r\n",
        "GET /nothing?secret HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    ] {
        let mut connection = TcpStream::connect(address).expect("it listens");
        connection.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        connection.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    }
    process.kill().expect("killed");
    let Output { stderr, .. } = process.wait_with_output().expect("gone");
    String::from_utf8(stderr).expect("text")
}

#[test]
fn the_terminal_stays_quiet_without_rust_log() {
    assert_eq!(written(&[]), "");
    let text = written(&[("RUST_LOG", "info")]);
    let requests: Vec<&str> = text.lines().filter(|line| line.contains("route=")).collect();
    assert_eq!(requests.len(), 2, "{text}");
    assert!(requests[0].contains("request{id=\"mine\"}"), "{text}");
    assert!(
        requests[0].contains("method=\"GET\" route=\"/api/health\" status=200"),
        "{text}"
    );
    assert!(requests[1].contains("route=\"none\" status=404"), "{text}");
    assert!(!text.contains("secret") && !text.contains('\u{1b}'), "{text}");
}

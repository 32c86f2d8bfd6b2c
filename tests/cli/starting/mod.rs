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
use std::net::TcpStream;
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

    /// For a repository in `folder`.
    fn on_free_port(folder: &Path) -> Running {
        Running::start(serve_with(folder, &["--port", "0"], &[]))
    }

    /// The answer to a GET, in whole.
    fn get(&self, path: &str) -> String {
        get(&self.address, path, "").expect("it listens")
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

/// The same for a GET with `headers`, each of which ends with its line.
fn get(address: &str, path: &str, headers: &str) -> Option<String> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n");
    exchange(address, &request)
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The message with which `coord` ends.
fn refusal(mut command: Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("coord runs");
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    assert_eq!(status.code(), Some(1), "{command:?}: {stderr}");
    stderr
}

#[test]
fn a_setting_that_cannot_be_used_keeps_it_from_starting() {
    let folder = tempfile::tempdir().expect("a folder");
    for (variable, value, problem) in [
        ("COORD_CORS_ORIGINS", "*", "COORD_CORS_ORIGINS must "),
        (
            "COORD_CORS_ORIGINS",
            "https://a.example,b.example",
            "COORD_CORS_ORIGINS must ",
        ),
        ("COORD_LOCK_TTL_SECONDS", "0", "COORD_LOCK_TTL_SECONDS must "),
        ("COORD_REPOSITORIES", "acme", "COORD_REPOSITORIES must "),
        // It does not list the repository.
        (
            "COORD_REPOSITORIES",
            "acme/*",
            "github.com/team/project is not among the repositories of COORD_REPOSITORIES",
        ),
    ] {
        let stderr = refusal(serve_with(folder.path(), &["--port", "0"], &[(variable, value)]));
        assert!(stderr.starts_with(&format!("coord: {problem}")), "{value}: {stderr}");
    }
    let listed = [("COORD_REPOSITORIES", "team/*")];
    Running::start(serve_with(folder.path(), &["--port", "0"], &listed));
}

/// Returns the standard error after some requests.
fn written(environment: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let mut running = Running::start(serve_with(folder.path(), &["--port", "0"], environment));
    for (path, headers) in [("/api/health", "x-request-id: mine\r\n"), ("/nothing?secret", "")] {
        let answer = get(&running.address, path, headers).expect("it listens");
        assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    }
    running.process.kill().expect("killed");
    let mut text = String::new();
    let mut stderr = running.process.stderr.take().expect("its errors");
    stderr.read_to_string(&mut text).expect("text");
    text
}

#[test]
fn the_terminal_stays_quiet_without_rust_log() {
    assert_eq!(written(&[]), "");
    let text = written(&[("RUST_LOG", "info")]);
    let requests: Vec<&str> = text.lines().filter(|line| line.contains("route=")).collect();
    assert_eq!(requests.len(), 2, "{text}");
    for (request, part) in [
        (0, "request{id=\"mine\"}"),
        (0, "method=\"GET\" route=\"/api/health\" status=200"),
        (1, "route=\"none\" status=404"),
    ] {
        assert!(requests[request].contains(part), "{part}: {text}");
    }
    assert!(!text.contains("secret") && !text.contains('\u{1b}'), "{text}");
}

//! `coord serve` as a process: what keeps it from starting, and what it writes on the terminal.

#[path = "../fixtures/git.rs"]
mod git;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use git::Repo;

/// `coord serve` for a repository in `folder`, with no settings of whoever runs the tests.
fn serve(folder: &Path, environment: &[(&str, &str)]) -> (Command, SocketAddr) {
    let repository = folder.join("repository");
    if !repository.exists() {
        let repo = Repo::init(repository.clone(), &[]);
        repo.git(&["remote", "add", "origin", "https://github.com/team/project"]);
        repo.commit(&[("a.txt", "a")]);
        assert_eq!(repo.path(), repository);
    }
    let address = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port");
    let mut command = Command::new(env!("CARGO_BIN_EXE_coord"));
    for (name, _) in std::env::vars() {
        if name.starts_with("COORD_") || name == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command
        .args(["serve", "--listen", &address.to_string(), "--repo"])
        .arg(&repository)
        .arg("--data-dir")
        .arg(folder.join("data"))
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    (command, address)
}

#[test]
fn a_setting_that_cannot_be_used_keeps_it_from_starting() {
    let folder = tempfile::tempdir().expect("a folder");
    for (variable, value) in [
        ("COORD_CORS_ORIGINS", "*"),
        ("COORD_CORS_ORIGINS", "https://a.example,b.example"),
        ("COORD_LOCK_TTL_SECONDS", "0"),
    ] {
        let (mut command, _) = serve(folder.path(), &[(variable, value)]);
        let Output { status, stderr, .. } = command.output().expect("coord runs");
        let stderr = String::from_utf8_lossy(&stderr);
        assert_eq!(status.code(), Some(1), "{variable}={value}: {stderr}");
        assert!(stderr.starts_with(&format!("coord: {variable} must ")), "{stderr}");
    }
}

/// What stands on standard error after some requests.
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
fn the_terminal_stays_quiet_unless_it_is_asked() {
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

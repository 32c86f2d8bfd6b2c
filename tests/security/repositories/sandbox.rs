//! A folder with a home, a secret, programs that say that they ran, and a server that grants everything and notes what it gets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use coord_test_support::waiting::block_until;
use serde_json::json;

use super::commands::Run;
use coord_test_worlds::fake_server::Fake;

/// The secret that no request, output or file of a repository may contain: `COORD_TOKEN`, and a file of the user's,
/// begin with it.
pub const SECRET: &str = "hunter2";

/// The note about a command that does not end by itself.
pub const ENDLESS: &str = "\n(it did not end)";

pub struct Sandbox {
    folder: tempfile::TempDir,
    /// The port of the server.
    pub port: u16,
    seen: Arc<Mutex<String>>,
}

impl Sandbox {
    /// Without a repository.
    pub fn new() -> Sandbox {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "outside", "ran"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("outside/secret"), format!("{SECRET}-file")).unwrap();
        let (port, seen) = serve();
        Sandbox { folder, port, seen }
    }

    /// The path of `name`.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// The names of the programs of the repository that ran.
    pub fn ran(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.path("ran")).unwrap();
        names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    /// Returns the requests that the server got.
    pub fn seen(&self) -> String {
        self.seen.lock().unwrap().clone()
    }

    /// Every file of the user's outside of a repository, with its content. Coord's own ones in the folder for state have names that are
    /// digests, numbers or ids of agents, in folders with names of Coord.
    pub fn outside(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("home"), self.path("outside")];
        let (state, own) = (self.path("home/.local/state/coord"), ["clones", "sessions"]);
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true if entry.path().parent() == Some(&state) => {
                        assert!(own.iter().any(|own| entry.file_name() == **own), "{entry:?}");
                    }
                    true => folders.push(entry.path()),
                    false => found.push((entry.path(), std::fs::read(entry.path()).unwrap())),
                }
            }
        }
        found.sort();
        found
    }

    /// Returns the output of `coord` in `folder`.
    pub fn coord(&self, folder: &Path, run: &Run) -> String {
        self.coord_for(60, folder, run)
    }

    /// As [`Sandbox::coord`]. It is ended after so many seconds.
    pub fn coord_for(&self, seconds: u32, folder: &Path, (args, input): &Run) -> String {
        let mut command = self.command(folder, seconds);
        let mut running = command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
        let output = running.wait_with_output().unwrap();
        let is_ended = !matches!(output.status.code(), Some(124 | 137) | None);
        format!(
            "{}{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
            if is_ended { "" } else { ENDLESS }
        )
    }

    /// Runs `coord` in `folder`, with a separate home and token, for so many seconds.
    pub fn command(&self, folder: &Path, seconds: u32) -> Command {
        let mut command = Command::new("timeout");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["COORD_", "GIT_", "XDG_"].iter().any(|prefix| text.starts_with(prefix)) {
                command.env_remove(&name);
            }
        }
        command
            .args(["--kill-after=1", &seconds.to_string(), env!("CARGO_BIN_EXE_coord")])
            .current_dir(folder)
            .env("HOME", self.path("home"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("COORD_TOKEN", format!("{SECRET}-token"));
        command
    }

    /// As [`Sandbox::coord`], for words without input.
    pub fn run(&self, folder: &Path, words: &[&str]) -> String {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        self.coord(folder, &(words, String::new()))
    }

    /// Shows how git itself runs, in `folder`, the programs that its configuration names.
    pub fn unprotected_git(&self, folder: &Path) {
        for args in [&["status"][..], &["diff"], &["add", "a.txt"]] {
            // Git waits for whoever writes to a pipe.
            let mut git = Command::new("timeout");
            git.args(["--kill-after=1", "3", "git"])
                .args(args)
                .current_dir(folder)
                .env("HOME", self.path("home"))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            let _ = git.status();
        }
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.end_servers();
    }
}

impl Sandbox {
    /// Ends the servers that commands have started.
    pub fn end_servers(&self) {
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                } else if entry.file_name() == "listening" {
                    self.end(&entry.path());
                }
            }
        }
    }

    /// Ends the server that `listening` names, where it is one of a repository of this sandbox: the file may be made up.
    fn end(&self, listening: &Path) {
        let announced = std::fs::read_to_string(listening).unwrap_or_default();
        let Some((_, process)) = announced.split_once("(process ") else {
            return;
        };
        let process = process.trim_end_matches(')');
        let program = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let arguments = std::fs::read_to_string(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let is_ours = program.ends_with("coord") && arguments.contains(&*self.path("").to_string_lossy());
        if is_ours {
            let _ = Command::new("kill").arg(process).status();
            if !std::thread::panicking() {
                block_until("the server ends", || !listening.exists());
            }
        }
    }
}

/// A server that grants everything; its port, and all that was sent to it, byte by byte.
fn serve() -> (u16, Arc<Mutex<String>>) {
    let fake = Fake::start();
    fake.answer(
        "/api/check_status",
        200,
        json!({ "status": "OK", "repo_head": null, "repo_head_ref": null, "locks": {}, "held": {}, "warnings": [],
            "orchestration": { "type": "orchestration_command", "action": "PROCEED", "command": null, "reason": "x" } }),
    );
    let address = fake.address.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(String::new()));
    let noted = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (address, noted) = (address.clone(), Arc::clone(&noted));
            std::thread::spawn(move || forward(stream, &address, &noted));
        }
    });
    (port, seen)
}

/// Hands on what comes from `client` to the server at `address`, and its answers back.
fn forward(mut client: TcpStream, address: &str, seen: &Mutex<String>) {
    let mut server = TcpStream::connect(address).unwrap();
    let (mut answers, mut back) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || std::io::copy(&mut answers, &mut back));
    let mut part = [0; 4096];
    while let Ok(read @ 1..) = client.read(&mut part) {
        seen.lock().unwrap().push_str(&String::from_utf8_lossy(&part[..read]));
        if server.write_all(&part[..read]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(std::net::Shutdown::Both);
}

//! Runs of the binary.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use coord_test_support::git::Repo;
use tempfile::TempDir;

/// Long enough for a debug build on a busy machine. A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// The repository `repo` in a folder, with one commit of `files`.
pub fn repository(files: &[(&str, &str)]) -> (TempDir, Repo) {
    let temp = tempfile::tempdir().unwrap();
    let repo = Repo::init(temp.path().join("repo"), &[]);
    repo.commit(files);
    (temp, repo)
}

/// The output of a run, and whether it succeeded.
#[derive(Debug)]
pub struct Ran {
    pub succeeded: bool,
    pub stdout: String,
    pub stderr: String,
}

/// `coord graph ARGUMENTS` in `folder`, ready to run. Nothing that the caller's environment says about git or Coord counts.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(crate::COORD);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if ["GIT_", "COORD_", "XDG_", "RUST_LOG"]
            .iter()
            .any(|start| text.starts_with(start))
        {
            command.env_remove(name);
        }
    }
    command.arg("graph").args(arguments);
    if folder.join("HEAD").is_file() && !arguments.contains(&"--repo") {
        // A bare repository counts only where it is named.
        command.arg("--repo").arg(folder);
    }
    command
        .current_dir(folder)
        .env("HOME", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs it to its end.
pub fn run(mut command: Command) -> Ran {
    let child = command.spawn().unwrap();
    let id = child.id();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(PATIENCE) else {
        let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        panic!("{command:?} hangs");
    };
    let Output { status, stdout, stderr } = output.unwrap();
    Ran {
        succeeded: status.success(),
        stdout: String::from_utf8(stdout).unwrap(),
        stderr: String::from_utf8(stderr).unwrap(),
    }
}

/// Returns the output of `coord graph ARGUMENTS` in `folder`, which must succeed.
pub fn graph(folder: &Path, arguments: &[&str]) -> String {
    let ran = run(command(folder, arguments));
    assert!(ran.succeeded, "{arguments:?}: {}", ran.stderr);
    ran.stdout
}

/// The message with which `coord graph ARGUMENTS` fails in `folder`.
pub fn refusal(folder: &Path, arguments: &[&str]) -> String {
    let ran = run(command(folder, arguments));
    assert!(!ran.succeeded, "{arguments:?} succeeded: {}", ran.stdout);
    assert_eq!(ran.stdout, "", "{arguments:?} printed something and failed");
    ran.stderr
}

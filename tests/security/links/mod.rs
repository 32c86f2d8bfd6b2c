//! Links and special files in a working copy: each place that Coord reads or writes, with each kind of file that an
//! attacker can put there.

mod init;
mod matrix;
mod places;

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use coord_test_worlds::world::World;

/// A secret that may never appear in an output, a store or a file of the repository.
const SECRET: &str = "canary-7d1f-secret";

/// How long a command may take. One that waits for the other end of a pipe takes forever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `coord ARGS`; the test fails if the command does not end.
fn run(world: &World, args: &[&str], input: &str) -> Output {
    let mut command = world.coord(world.clone.path());
    command
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
    let (sender, ended) = std::sync::mpsc::channel();
    let id = child.id().to_string();
    std::thread::spawn(move || sender.send(child.wait_with_output().unwrap()));
    let started = Instant::now();
    ended.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        std::process::Command::new("kill").arg(id).status().unwrap();
        panic!("coord {args:?} hangs for {:?}", started.elapsed())
    })
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Whether a regular file below `folder` has `word` in it. Links are not followed.
pub fn contains(folder: &Path, word: &str) -> bool {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    found.into_iter().any(|entry| {
        let kind = entry.file_type().unwrap();
        let has = |bytes: Vec<u8>| memchr::memmem::find(&bytes, word.as_bytes()).is_some();
        (kind.is_dir() && contains(&entry.path(), word))
            || (kind.is_file() && std::fs::read(entry.path()).is_ok_and(has))
    })
}

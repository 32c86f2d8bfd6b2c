//! The time that a hook adds to an edit: `coord hook claude-code PreToolUse` as an agent runs it, a process each time, in a clone and
//! in a worktree, against a server that runs; and the look at a large working copy around a command. Beside it stands a process that does nothing (`coord --version`).
//!
//! `cargo bench -p coord-cli --bench hook`, with the number of runs as an argument (default 200).

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use coord_test_worlds::world::World;
use serde_json::json;

/// How long `coord ARGS` takes in `folder`, with `input`.
fn timed(world: &World, folder: &Path, args: &[&str], input: &str) -> Duration {
    let mut command = world.coord(folder);
    // The first one starts the server.
    command.env("COORD_LIMIT_HOLDER_PER_MINUTE", "0");
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
    let started = Instant::now();
    let mut running = command.spawn().unwrap();
    // A process that reads nothing may have ended already.
    let _ = running.stdin.take().unwrap().write_all(input.as_bytes());
    let ended = running.wait_with_output().unwrap();
    let took = started.elapsed();
    assert!(ended.status.success());
    let output = String::from_utf8(ended.stdout).unwrap();
    assert!(!output.contains("deny"), "{output}");
    took
}

fn edit(folder: &Path, file: &str) -> String {
    let tool = json!({ "file_path": folder.join(file), "old_string": "a", "new_string": "b" });
    json!({ "session_id": "s", "cwd": folder, "hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": tool }).to_string()
}

fn command(folder: &Path, event: &str) -> String {
    let tool = json!({ "command": "make" });
    json!({ "session_id": "s", "cwd": folder, "hook_event_name": event, "tool_name": "Bash", "tool_input": tool })
        .to_string()
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!(
        "{name:32} median {:6.2} ms   p95 {:6.2} ms   most {:6.2} ms",
        at(50),
        at(95),
        at(100)
    );
}

fn main() {
    let runs = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next()
        .unwrap_or(200);
    let names: Vec<String> = (0..2000)
        .map(|number| format!("src/{}/file-{number}.txt", number % 50))
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "a")).collect();
    let world = World::with(&files);
    let worktree = world.worktree("ada");
    let hook = ["hook", "claude-code", "PreToolUse"];
    // Starts the server.
    timed(&world, world.clone.path(), &hook, &edit(world.clone.path(), &names[0]));
    let nothing = (0..runs).map(|_| timed(&world, world.clone.path(), &["--version"], ""));
    report("a process that does nothing", nothing.collect());
    for (place, folder) in [("clone", world.clone.path()), ("worktree", worktree.path())] {
        let renewed = (0..runs).map(|_| timed(&world, folder, &hook, &edit(folder, &names[0])));
        report(&format!("edit, the same file, {place}"), renewed.collect());
        let new = (0..runs).map(|run| timed(&world, folder, &hook, &edit(folder, &names[run % names.len()])));
        report(&format!("edit, another file, {place}"), new.collect());
    }
    of_commands(runs);
}

/// The look at a working copy of 10,000 files, before a command that may change it and after.
fn of_commands(runs: usize) {
    let names: Vec<String> = (0..10_000)
        .map(|number| format!("src/{}/file-{number}.txt", number % 100))
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "a")).collect();
    let world = World::with(&files);
    let folder = world.clone.path();
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..runs {
        for (event, times) in ["PreToolUse", "PostToolUse"].into_iter().zip(&mut times) {
            times.push(timed(
                &world,
                folder,
                &["hook", "claude-code", event],
                &command(folder, event),
            ));
        }
    }
    let [before, after] = times;
    report("before a command, 10,000 files", before);
    report("after a command, 10,000 files", after);
}

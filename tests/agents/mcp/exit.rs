//! The end of a session.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Agent, MESSAGE, action};
use super::server::Server;
use super::{agent, mcp};
use crate::hook::hook;
use crate::processes::program_like;
use crate::texts::assert_has;
use coord_test_worlds::world::World;

/// An agent that starts `coord mcp`, and can be ended by itself.
struct Launched {
    mcp: Agent,
    process: String,
}

impl Launched {
    /// Runs `coord ARGUMENTS` by a program whose command line does not show what it starts.
    fn start(world: &World, folder: &Path, arguments: &str) -> Launched {
        let coord = world.coord(folder);
        let number = world.folder("agents").join("number");
        let mut awk = program_like(&coord, "awk");
        awk.arg("BEGIN { system(ENVIRON[\"RUN\"]) }");
        let program = coord.get_program().display();
        let run = format!("echo $PPID > '{}'; exec '{program}' {arguments}", number.display());
        awk.env("RUN", run);
        let mcp = Agent::start(awk);
        Launched {
            mcp,
            process: std::fs::read_to_string(number).unwrap().trim().to_owned(),
        }
    }

    /// The agent is killed, and its server sees the end of its input.
    fn killed(mut self) -> String {
        let killed = Command::new("kill").args(["-KILL", &self.process]).status();
        assert!(killed.unwrap().success());
        self.mcp.close();
        self.mcp.wait().log
    }
}

/// An agent beside the one that ends.
fn watcher(world: &World) -> Agent {
    Agent::start(mcp(world, &["--agent", "watcher"]))
}

// rule: mcp#end
#[test]
fn unchanged_or_pushed_files_are_released_and_the_rest_is_reported() {
    let world = World::with(&[
        ("unchanged.txt", "u"),
        ("pushed.txt", "p"),
        ("edited.txt", "e"),
        ("committed.txt", "c"),
        ("read.txt", "r"),
    ]);
    let mut watcher = watcher(&world);
    watcher.gets_locks(&["other-agent.txt"]);
    let mut launched = Launched::start(&world, world.clone.path(), "mcp");
    let ada = &mut launched.mcp;
    ada.gets_locks(&["unchanged.txt", "pushed.txt", "edited.txt", "committed.txt", "new.txt"]);
    assert_eq!(action(&ada.post(&["read.txt"], "READING", MESSAGE)), "PROCEED");
    world.clone.commit(&[("pushed.txt", "changed")]);
    world.clone.git(&["push", "--quiet"]);
    world.clone.commit(&[("committed.txt", "changed")]);
    for file in ["edited.txt", "new.txt"] {
        std::fs::write(world.clone.path().join(file), "changed").unwrap();
    }
    let log = launched.killed();
    let kept = ["committed.txt", "edited.txt", "new.txt", "other-agent.txt"];
    assert_eq!(watcher.held(""), kept, "{log}");
    let released = "released 'pushed.txt', 'read.txt', 'unchanged.txt'";
    assert_has(&log, &[released, "kept 'committed.txt', 'edited.txt', 'new.txt'"]);
}

#[test]
fn a_change_in_any_worktree_of_the_session_counts() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let worktree = world.worktree("ada");
    let mut watcher = watcher(&world);
    let mut launched = Launched::start(&world, worktree.path(), "mcp");
    let in_clone = world.clone.path().join("b.txt").display().to_string();
    for file in ["a.txt", &in_clone] {
        launched.mcp.gets_locks(&[file]);
    }
    std::fs::write(worktree.path().join("a.txt"), "changed").unwrap();
    let log = launched.killed();
    assert_eq!(watcher.held(""), ["a.txt"], "{log}");
}

/// A restarted server released the files that its session continued to work on.
// rule: holders#mcp-end
#[test]
fn a_server_that_ends_before_its_session_releases_nothing() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut watcher = watcher(&world);
    for signal in [Some("TERM"), Some("INT"), None] {
        let mut ada = agent(&world);
        ada.gets_locks(&["a.txt"]);
        match signal {
            Some(signal) => ada.signal(signal),
            None => ada.close(),
        }
        let ended = ada.wait();
        assert!(ended.status.success(), "{signal:?}");
        assert!(ended.log.contains("its session goes on"), "{}", ended.log);
        assert_eq!(watcher.held(""), ["a.txt"]);
    }
    // Its successor has the same session.
    agent(&world).gets_locks(&["a.txt", "b.txt"]);
}

#[test]
fn an_mcp_server_releases_when_its_conversation_ends_and_the_next_session_learns_of_it() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut watcher = watcher(&world);
    let event = |event: &str| {
        let folder = world.clone.path();
        let call = json!({ "session_id": "one", "cwd": folder, "hook_event_name": event }).to_string();
        let answer = hook(&world, folder, None, &["claude-code", event], &call);
        assert_eq!(answer.status, 0, "{answer:?}");
        answer.body.to_string()
    };
    event("SessionStart");
    let mut ada = agent(&world);
    ada.gets_locks(&["a.txt"]);
    let log = ada.end().log;
    assert!(log.contains("its session goes on"), "{log}");
    let mut ada = agent(&world);
    ada.gets_locks(&["b.txt"]);
    // As its last hook does, without releasing anything itself.
    world.end_conversations();
    let log = ada.end().log;
    assert!(log.contains("released 'b.txt'"), "{log}");
    assert_eq!(watcher.held(""), ["a.txt"], "an earlier server claimed it");
    let context = event("SessionStart");
    assert!(context.contains("RELEASED: 'b.txt'"), "{context}");
    assert!(!event("UserPromptSubmit").contains("RELEASED"));
}

#[test]
fn the_end_takes_five_seconds_at_most_where_the_server_is_gone() {
    let world = World::with(&[("a.txt", "a")]);
    let mut server = Server::start(&world, 300);
    let arguments = format!("mcp --url {}", server.url());
    let mut ada = Launched::start(&world, world.clone.path(), &arguments);
    ada.mcp.gets_locks(&["a.txt"]);
    server.kill();
    let hanging = std::net::TcpListener::bind(server.url().trim_start_matches("http://")).unwrap();
    let ended_at = Instant::now();
    let log = ada.killed();
    assert!(ended_at.elapsed() < Duration::from_secs(7), "{:?}", ended_at.elapsed());
    assert!(log.contains("the remaining locks expire"), "{log}");
    drop(hanging);
    server.start_again();
    assert_eq!(server.agent().held(""), ["a.txt"]);
}

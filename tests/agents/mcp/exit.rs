//! The end of a session.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Agent, Ended, MESSAGE, action};
use super::server::Server;
use super::{agent, agent_in};
use crate::world::World;

/// An agent beside the one that ends.
fn watcher(world: &World) -> Agent {
    let mut command: Command = world.coord(world.clone.path());
    command.args(["mcp", "--agent", "watcher"]);
    Agent::start(command)
}

#[test]
fn what_is_unchanged_or_pushed_is_released_and_the_rest_is_kept_and_said() {
    let world = World::with(&[
        ("unchanged.txt", "u"),
        ("pushed.txt", "p"),
        ("edited.txt", "e"),
        ("committed.txt", "c"),
        ("read.txt", "r"),
    ]);
    let mut watcher = watcher(&world);
    let mut ada = agent(&world);
    assert_eq!(
        action(&ada.claim(&["unchanged.txt", "pushed.txt", "edited.txt", "committed.txt", "new.txt"])),
        "PROCEED"
    );
    assert_eq!(action(&ada.post(&["read.txt"], "READING", MESSAGE)), "PROCEED");
    world.clone.commit(&[("pushed.txt", "changed")]);
    world.clone.git(&["push", "--quiet"]);
    world.clone.commit(&[("committed.txt", "changed")]);
    std::fs::write(world.clone.path().join("edited.txt"), "changed").unwrap();
    std::fs::write(world.clone.path().join("new.txt"), "new").unwrap();
    let Ended { status, said } = ada.end();
    assert!(status.success());
    assert_eq!(watcher.held(""), ["committed.txt", "edited.txt", "new.txt"], "{said}");
    assert!(
        said.contains("released 'pushed.txt', 'read.txt', 'unchanged.txt'"),
        "{said}"
    );
    assert!(said.contains("kept 'committed.txt', 'edited.txt', 'new.txt'"), "{said}");
}

#[test]
fn a_change_in_any_worktree_of_the_session_counts() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let worktree = world.worktree("ada");
    let mut watcher = watcher(&world);
    let mut ada = agent_in(&world, worktree.path());
    assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
    let in_clone = world.clone.path().join("b.txt").display().to_string();
    assert_eq!(action(&ada.claim(&[&in_clone])), "PROCEED");
    std::fs::write(worktree.path().join("a.txt"), "changed").unwrap();
    let said = ada.end().said;
    assert_eq!(watcher.held(""), ["a.txt"], "{said}");
}

#[test]
fn locks_of_other_agents_are_left_alone() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut watcher = watcher(&world);
    assert_eq!(action(&watcher.claim(&["b.txt"])), "PROCEED");
    let mut ada = agent(&world);
    assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
    ada.end();
    assert_eq!(watcher.held(""), ["b.txt"]);
}

#[test]
fn a_signal_ends_it_as_the_end_of_its_input_does() {
    let world = World::with(&[("a.txt", "a")]);
    let mut watcher = watcher(&world);
    for signal in ["TERM", "INT"] {
        let mut ada = agent(&world);
        assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
        ada.signal(signal);
        let ended = ada.wait();
        assert!(ended.status.success(), "{signal}");
        assert!(ended.said.contains("released 'a.txt'"), "{}", ended.said);
        assert_eq!(watcher.held(""), [""; 0]);
    }
}

#[test]
fn the_end_takes_five_seconds_at_most_where_the_server_is_gone() {
    let world = World::with(&[("a.txt", "a")]);
    let mut server = Server::start(&world, 300);
    let mut ada = server.agent();
    assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
    server.kill();
    let hanging = std::net::TcpListener::bind(server.url().trim_start_matches("http://")).unwrap();
    let ended_at = Instant::now();
    let ended = ada.end();
    assert!(ended_at.elapsed() < Duration::from_secs(7), "{:?}", ended_at.elapsed());
    assert!(ended.said.contains("expires by itself"), "{}", ended.said);
    drop(hanging);
    server.start_again();
    let mut ada = server.agent();
    assert_eq!(ada.held("?holder=me"), ["a.txt"]);
    drop(ada.call(
        "post_status",
        json!({ "file_paths": ["*"], "status": "OPEN", "abandon": true, "message": MESSAGE }),
    ));
    assert_eq!(ada.held(""), [""; 0]);
}

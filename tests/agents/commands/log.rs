//! `coord log`.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use coord_test_support::waiting::block_until;
use serde_json::Value;

use super::{claim, json, printed, steady, world};
use crate::processes::end_server;
use coord_test_worlds::world::World;

#[test]
fn events_are_sentences_with_the_newest_at_the_end() {
    let world = world();
    let empty = printed(&world, &["log", "--branch", "other"], 0);
    assert_eq!(empty, "Nothing has happened yet.\n");
    claim(&world, "one", "src/db.ts", "Adding a pool", 0);
    claim(&world, "two", "src/db.ts", "Renaming query()", 3);
    printed(&world, &["release", "src/db.ts", "--agent", "one"], 0);
    let log = printed(&world, &["log"], 0);
    let sentences = log.lines().map(|line| line.split_once("  ").unwrap().1);
    let of_locks: Vec<&str> = sentences.filter(|line| line.contains("src/db.ts")).collect();
    insta::assert_snapshot!(steady(&of_locks.join("\n"), &world));
    assert_eq!(printed(&world, &["log", "--branch", "other", "--json"], 0), "");
    let last = json(&world, &["log", "--limit", "1", "--json"], 0);
    assert!(last["id"].is_string(), "{last}");
}

#[test]
fn log_leaves_out_renewals_without_the_renewals_flag() {
    let world = world();
    claim(&world, "one", "README.md", "First", 0);
    for _ in 0..3 {
        claim(&world, "one", "src/db.ts", "Adding a pool", 0);
    }
    // The graph is announced whenever it is built.
    block_until("the graph is built", || {
        printed(&world, &["log"], 0).contains("the import graph")
    });
    for _ in 0..2 {
        claim(&world, "one", "src/auth.ts", "Adding a pool", 0);
    }
    let renewals = |args: &[&str]| printed(&world, args, 0).matches(" renews ").count();
    assert_eq!(renewals(&["log"]), 0);
    assert_eq!(renewals(&["log", "--renewals"]), 3);
    let last = printed(&world, &["log", "--limit", "1"], 0);
    assert_eq!(last.lines().count(), 1, "{last}");
    assert!(last.contains("claims src/auth.ts"), "{last}");
    let json = printed(&world, &["log", "--limit", "1", "--json"], 0);
    assert!(json.contains("lock_renewed"), "{json}");
}

/// `coord log --follow`, ended when it is dropped.
struct Following {
    process: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Following {
    fn start(world: &World) -> Following {
        let mut command = world.coord(world.clone.path());
        command.args(["log", "--follow", "--json", "--limit", "1"]);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Following { process, lines }
    }

    /// Reads until someone claims `file`.
    fn until_claimed(&mut self, file: &str) {
        for line in self.lines.by_ref() {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            if event["type"] == "lock_granted" && event["files"][0] == file {
                return;
            }
        }
        panic!("{file} was not claimed");
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn events_are_followed_over_a_restart_of_the_server() {
    let world = world();
    let mut following = Following::start(&world);
    block_until("the server runs", || world.server().is_some());
    printed(&world, &["claim", "src/db.ts", "-m", "Adding a pool"], 0);
    following.until_claimed("src/db.ts");
    let first = world.server();
    end_server(&world);
    printed(&world, &["claim", "README.md", "-m", "Describing the pool"], 0);
    assert_ne!(world.server(), first);
    following.until_claimed("README.md");
}

#[test]
fn a_log_whose_reader_has_read_enough_ends() {
    let world = world();
    printed(&world, &["claim", "src/db.ts", "-m", "Adding a pool"], 0);
    let mut following = Following::start(&world);
    following.lines.next().unwrap().unwrap();
    let Following { process, lines } = &mut following;
    // A pipe without a reader is noticed with the next event.
    let (reader, _) = std::io::pipe().unwrap();
    let nothing = ChildStdout::from(std::os::fd::OwnedFd::from(reader));
    *lines = BufReader::new(nothing).lines();
    printed(&world, &["release", "src/db.ts", "--abandon"], 0);
    block_until("the command has ended", || process.try_wait().unwrap().is_some());
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

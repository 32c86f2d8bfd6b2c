//! `coord log`.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use coord_test_support::waiting::block_until;
use serde_json::Value;

use super::{printed, steady, world};
use coord_test_worlds::world::World;

#[test]
fn events_are_sentences_with_the_newest_at_the_end() {
    let world = world();
    let empty = printed(&world, &["log", "--branch", "other"], 0);
    assert_eq!(empty, "Nothing has happened yet.\n");
    printed(
        &world,
        &["claim", "src/db.ts", "-m", "Adding a pool", "--agent", "one"],
        0,
    );
    printed(
        &world,
        &["claim", "src/db.ts", "-m", "Renaming query()", "--agent", "two"],
        3,
    );
    printed(&world, &["release", "src/db.ts", "--agent", "one"], 0);
    let log = printed(&world, &["log"], 0);
    let without_time = |line: &str| line.split_once("  ").unwrap().1.to_owned();
    let of_locks: Vec<String> = log
        .lines()
        .map(without_time)
        .filter(|line| line.contains("src/db.ts"))
        .collect();
    insta::assert_snapshot!(steady(&of_locks.join("\n"), &world));
    let other = printed(&world, &["log", "--branch", "other", "--json"], 0);
    assert_eq!(other, "");
    let last = printed(&world, &["log", "--limit", "1", "--json"], 0);
    let last: Value = serde_json::from_str(&last).unwrap();
    assert!(last["id"].is_string(), "{last}");
}

#[test]
fn log_leaves_out_renewals_without_the_renewals_flag() {
    let world = world();
    printed(&world, &["claim", "README.md", "-m", "First", "--agent", "one"], 0);
    for _ in 0..3 {
        printed(
            &world,
            &["claim", "src/db.ts", "-m", "Adding a pool", "--agent", "one"],
            0,
        );
    }
    // The graph is announced whenever it is built.
    block_until("the graph is built", || {
        printed(&world, &["log"], 0).contains("the import graph")
    });
    printed(
        &world,
        &["claim", "src/auth.ts", "-m", "Adding a pool", "--agent", "one"],
        0,
    );
    printed(
        &world,
        &["claim", "src/auth.ts", "-m", "Adding a pool", "--agent", "one"],
        0,
    );
    let lines = |args: &[&str]| printed(&world, args, 0).lines().map(str::to_owned).collect::<Vec<_>>();
    let renews = |lines: &[String]| lines.iter().filter(|line| line.contains(" renews ")).count();
    assert_eq!(renews(&lines(&["log"])), 0);
    assert_eq!(renews(&lines(&["log", "--renewals"])), 3);
    let last = lines(&["log", "--limit", "1"]);
    assert!(last.len() == 1 && last[0].contains("claims src/auth.ts"), "{last:?}");
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
        command
            .args(["log", "--follow", "--json", "--limit", "1"])
            .stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Following { process, lines }
    }

    /// Reads until `user` claims `file`.
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
    let first = world.server().unwrap();
    assert!(Command::new("kill").arg(&first).status().unwrap().success());
    block_until("the server has ended", || world.server().is_none());
    printed(&world, &["claim", "README.md", "-m", "Describing the pool"], 0);
    assert_ne!(world.server(), Some(first));
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
    let _ = std::mem::replace(
        lines,
        BufReader::new(ChildStdout::from(std::os::fd::OwnedFd::from(reader))).lines(),
    );
    printed(&world, &["release", "src/db.ts", "--abandon"], 0);
    block_until("the command has ended", || process.try_wait().unwrap().is_some());
    assert_eq!(process.wait().unwrap().code(), Some(0));
}

//! Claims that wait.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use coord_test_support::waiting::block_until;

use super::{claim, json, parts, printed, world};
use crate::processes::{end_server, kill};
use coord_test_worlds::world::World;

/// `coord ARGS` of agent `two`, which waits for the file of agent `one`.
fn waits(world: &World, args: &[&str]) -> Child {
    claim(world, "one", "src/db.ts", "Adding a pool", 0);
    let mut waiting = world.coord(world.clone.path());
    waiting.args(args).args(["--agent", "two"]);
    let waiting = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    block_until("a refusal is in the log", || {
        printed(world, &["log", "--json"], 0).contains("lock_refused")
    });
    waiting
}

/// Returns the output of `coord ARGS` for agent `two`, which waits until agent `one` releases the file, and then holds
/// it. The action `meanwhile` does not end the wait.
fn printed_once_released(world: &World, args: &[&str], meanwhile: impl FnOnce()) -> String {
    let waiting = waits(world, args);
    meanwhile();
    printed(world, &["release", "src/db.ts", "--agent", "one"], 0);
    let (code, out, error) = parts(&waiting.wait_with_output().unwrap());
    assert_eq!(code, 0, "{out}{error}");
    assert_eq!(error, "", "there is no terminal to show progress on");
    assert_eq!(json(world, &["status", "--json"], 0)["locks"][0]["agent_id"], "two");
    out
}

#[test]
fn a_claim_waits_until_the_file_is_released() {
    let claim = ["claim", "src/db.ts", "-m", "Renaming query()", "--wait", "60"];
    let out = printed_once_released(&world(), &claim, || ());
    assert!(out.starts_with("PROCEED: "), "{out}");
}

#[test]
fn a_wait_outlasts_a_server_that_is_started_again() {
    let world = world();
    let out = printed_once_released(&world, &["wait", "src/db.ts"], || {
        let first = world.server().unwrap();
        end_server(&world);
        // Long enough that the claim of the one that waits has no answer.
        // time: the waiting command meets a server that is away.
        std::thread::sleep(Duration::from_secs(1));
        printed(&world, &["status"], 0);
        assert_ne!(world.server().unwrap(), first);
    });
    assert!(out.starts_with("PROCEED: "), "{out}");
}

#[test]
fn a_wait_ends_where_no_server_comes_back() {
    let world = world();
    let waiting = waits(&world, &["wait", "src/db.ts", "--for", "8"]);
    kill(&world.server().unwrap());
    let (code, out, _) = parts(&waiting.wait_with_output().unwrap());
    assert_eq!(code, 4, "{out}");
    assert!(out.starts_with("STOP: "), "{out}");
}

#[test]
fn a_claim_that_waits_in_vain_ends_in_time_with_the_refusal() {
    let world = world();
    claim(&world, "one", "src/db.ts", "Adding a pool", 0);
    let begun = Instant::now();
    let waiting = ["claim", "src/db.ts", "-m", "Renaming", "--agent", "two", "--wait", "1"];
    let refused = printed(&world, &waiting, 3);
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(refused.starts_with("WAIT: "), "{refused}");
}

#[test]
fn a_wait_for_files_ends_with_their_locks() {
    let world = world();
    let out = printed_once_released(&world, &["wait", "src/db.ts", "--json"], || ());
    let out: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(out["orchestration"]["action"], "PROCEED");
    let lock = &out["locks"]["src/db.ts"];
    assert_eq!(lock["message"], "Waiting for these files, to work on them next");
    printed(&world, &["wait", "src/db.ts", "--agent", "one", "--for", "1"], 3);
}

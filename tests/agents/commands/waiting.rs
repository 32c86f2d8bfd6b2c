//! Claims that wait.

use std::process::Stdio;
use std::time::{Duration, Instant};

use coord_test_support::waiting::block_until;

use super::{json, parts, printed, world};

#[test]
fn a_claim_waits_until_the_file_is_released() {
    let world = world();
    printed(
        &world,
        &["claim", "src/db.ts", "-m", "Adding a pool", "--agent", "one"],
        0,
    );
    let mut waiting = world.coord(world.clone.path());
    waiting
        .args([
            "claim",
            "src/db.ts",
            "-m",
            "Renaming query()",
            "--agent",
            "two",
            "--wait",
            "60",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let waiting = waiting.spawn().unwrap();
    block_until("a refusal is in the log", || {
        let log = printed(&world, &["log", "--json"], 0);
        log.lines().any(|line| line.contains("lock_refused"))
    });
    printed(&world, &["release", "src/db.ts", "--agent", "one"], 0);
    let (code, out, error) = parts(&waiting.wait_with_output().unwrap());
    assert_eq!(code, 0, "{out}{error}");
    assert!(out.starts_with("PROCEED: "), "{out}");
    assert_eq!(error, "", "there is no terminal to show progress on");
    assert_eq!(json(&world, &["status", "--json"], 0)["locks"][0]["agent_id"], "two");
}

#[test]
fn a_claim_that_waits_in_vain_ends_in_time_with_the_refusal() {
    let world = world();
    printed(
        &world,
        &["claim", "src/db.ts", "-m", "Adding a pool", "--agent", "one"],
        0,
    );
    let begun = Instant::now();
    let refused = printed(
        &world,
        &["claim", "src/db.ts", "-m", "Renaming", "--agent", "two", "--wait", "1"],
        3,
    );
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(refused.starts_with("WAIT: "), "{refused}");
}

//! `coord ledger verify FILE` against the server and the trailers of commits.

use coord_intents::ledger::{Point, Sealer, split};

use super::{REPOSITORY, begin, file, read, run_coord, world, write};
use coord_test_worlds::world::World;

const TRACE: &str = "agent_trace.jsonl";
const PATH: &str = ".orchestration/agent_trace.jsonl";

/// The verdict on the file, against the server.
fn verdict(world: &World, more: &[&str], status: i32) -> String {
    run_coord(world, &[&["ledger", "verify", PATH], more].concat(), status).0
}

/// A world whose file has all lines of its server, and these lines.
fn synced() -> (World, String) {
    let world = world();
    begin(&world, "a", "src/**");
    run_coord(&world, &["intent", "complete", "a"], 0);
    run_coord(&world, &["sync"], 0);
    let ledger = read(&world, TRACE);
    assert!(ledger.lines().count() >= 3, "{ledger}");
    (world, ledger)
}

/// `ledger` with `to` in the place of `from`, under a chain that is right in itself.
fn rebuilt(ledger: &str, from: &str, to: &str) -> String {
    let (mut sealer, mut bytes) = (Sealer::after(Point::start(REPOSITORY)), Vec::new());
    for line in ledger.lines() {
        let body = std::str::from_utf8(split(line.as_bytes()).unwrap().body).unwrap();
        sealer
            .append(&mut bytes, &format!("{}}}", body.replace(from, to)))
            .unwrap();
    }
    let rebuilt = String::from_utf8(bytes).unwrap();
    assert_ne!(rebuilt, ledger);
    rebuilt
}

// rule: commands#ledger-verify
#[test]
fn a_file_is_held_against_the_seal_of_the_server() {
    let (world, ledger) = synced();
    let whole = verdict(&world, &[], 0);
    let count = ledger.lines().count();
    assert!(whole.starts_with(&format!("Ledger OK: {count} entries")), "{whole}");
    assert!(whole.ends_with("External checkpoints that it matches: 1\n"), "{whole}");

    let kept = ledger.trim_end().rfind('\n').unwrap() + 1;
    write(&world, TRACE, &ledger[..kept]);
    let cut = verdict(&world, &[], 3);
    assert!(
        cut.contains(&format!("TRUNCATED at line {count}")) && cut.contains("coord sync"),
        "{cut}"
    );
    assert!(
        verdict(&world, &["--offline"], 0).starts_with("Ledger OK"),
        "the chain alone shows no cut"
    );

    write(&world, TRACE, &rebuilt(&ledger, "Pool", "Pond"));
    let forked = verdict(&world, &[], 3);
    assert!(
        forked.contains(&format!("FORKED at line {count} (seq {count})")) && forked.contains("the seal"),
        "{forked}"
    );
    assert!(
        verdict(&world, &["--offline"], 0).starts_with("Ledger OK"),
        "it is right in itself"
    );
}

// rule: ledger#anchor-kinds
#[test]
fn the_trailer_of_a_commit_is_an_anchor_where_no_server_is() {
    let (_, ledger) = synced();
    let last = split(ledger.lines().next_back().unwrap().as_bytes()).unwrap();
    let point = Point {
        seq: last.seq,
        hash: last.hash,
    };
    let there = world();
    write(&there, TRACE, &ledger);
    let (out, error) = run_coord(&there, &["ledger", "verify", PATH], 0);
    assert!(out.ends_with("No external checkpoint was compared\n"), "{out}");
    assert!(
        error.contains(
            "without the seal of a server, with checkpoints and the trailers of commits alone: no server is configured"
        ),
        "{error}"
    );
    assert_eq!(there.server(), None, "none was started to be asked");

    let message = format!("Pool\n\nCoord-Ledger: {point}\n");
    there
        .clone
        .git(&["commit", "--quiet", "--allow-empty", "--message", &message]);
    assert!(verdict(&there, &[], 0).ends_with("that it matches: 1\n"));
    write(&there, TRACE, &rebuilt(&ledger, "Pool", "Pond"));
    let forked = verdict(&there, &[], 3);
    assert!(forked.contains("FORKED") && forked.contains("commit "), "{forked}");
}

// rule: commands#ledger-verify
#[test]
fn a_key_without_a_checkpoint_demands_that_the_server_signs() {
    let secret = "PRIVATE+KEY+coord.example+3f447896+AQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH";
    let public = "coord.example+3f447896+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs";
    let other = "other.example+3d959314+AROY9ixtGkV8UbpqS189vS9p/KkyFiGNyJl+QWvRfZPK";
    let world = world();
    // The command starts the server, which signs.
    let mut first = world.coord(world.clone.path());
    first.args(["sync"]).env("COORD_LEDGER_KEY", secret);
    assert!(first.output().unwrap().status.success());
    begin(&world, "a", "src/**");
    run_coord(&world, &["sync"], 0);
    let signed = verdict(&world, &["--key", public], 0);
    assert!(signed.ends_with("that it matches: 2\n"), "{signed}");
    for ledger in [&[PATH][..], &[]] {
        let by_other = [&["ledger", "verify", "--key", other], ledger].concat();
        let (_, error) = run_coord(&world, &by_other, 1);
        assert!(
            error.contains("the checkpoint of the server: the checkpoint is not signed by other.example"),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_begins_where_the_servers_rest_begins_is_whole_by_its_base_alone() {
    let world = world();
    let mut first = world.coord(world.clone.path());
    first.args(["sync"]).env("COORD_LEDGER_MAX_LINES", "1000");
    assert!(first.output().unwrap().status.success());
    let calls: String = (0..1400).map(|_| "{\"kind\":\"call\"}\n").collect();
    write(&world, "calls.jsonl", &calls);
    let mut record = world.coord(world.clone.path());
    let calls = std::fs::File::open(file(&world, "calls.jsonl")).unwrap();
    assert!(
        record
            .args(["ledger", "record"])
            .stdin(calls)
            .output()
            .unwrap()
            .status
            .success()
    );
    std::fs::remove_file(file(&world, TRACE)).ok();
    run_coord(&world, &["sync"], 0);
    let ledger = read(&world, TRACE);
    assert!(split(ledger.lines().next().unwrap().as_bytes()).unwrap().seq > 1);
    let whole = verdict(&world, &[], 0);
    assert!(
        whole.starts_with("Ledger OK") && whole.contains("TRIMMED at line 1"),
        "{whole}"
    );
    let alone = verdict(&world, &["--offline"], 3);
    assert!(alone.contains("MISSING at line 1"), "{alone}");
}

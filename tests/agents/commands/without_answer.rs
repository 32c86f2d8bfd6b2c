//! A server that does not answer, or refuses the caller; a folder that is not a working copy.

use super::{error, json, parts, printed, run, world};
use crate::processes::assert_success;
use crate::texts::assert_has;

/// A port on which nothing listens.
const NOWHERE: &str = "http://127.0.0.1:1";

#[test]
fn no_proxy_is_used_for_the_server_of_this_machine() {
    let world = world();
    let mut status = world.coord(world.clone.path());
    for proxy in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        status.env(proxy, NOWHERE);
    }
    status.env_remove("NO_PROXY").env_remove("no_proxy");
    assert_success(&status.arg("status").output().unwrap());
}

// rule: commands#exit-status
#[test]
fn without_an_answer_nothing_may_be_written_and_the_status_is_4() {
    let world = world();
    let check = ["check", "src/db.ts", "--url", NOWHERE];
    let printed_check = printed(&world, &check, 4);
    let beginning = "STOP: Coord cannot determine the locks: http://127.0.0.1:1 does not answer: ";
    assert!(printed_check.starts_with(beginning), "{printed_check}");
    let as_json = json(&world, &[&check[..], &["--json"]].concat(), 4);
    assert_eq!(as_json["status"], "OFFLINE");
    let claim = ["claim", "src/db.ts", "-m", "Adding a pool", "--url", NOWHERE];
    let claim = printed(&world, &claim, 4);
    let beginning = "STOP: Writing is not safe without locks: ";
    assert!(claim.starts_with(beginning), "{claim}");
    printed(&world, &["release", "src/db.ts", "--url", NOWHERE], 4);
    printed(&world, &["release", "--all", "--url", NOWHERE], 4);
    for command in ["status", "log"] {
        let (code, out, error) = run(&world, &[command, "--url", NOWHERE]);
        assert_eq!((code, out.as_str()), (4, ""), "{command}");
        let beginning = "coord: http://127.0.0.1:1 does not answer: ";
        assert!(error.starts_with(beginning), "{error}");
    }
    assert_eq!(world.server(), None, "no server was started");
}

#[test]
fn a_repository_that_the_server_lacks_is_an_error() {
    let world = world();
    printed(&world, &["check", "src/db.ts"], 0);
    let other = "https://github.com/team/other";
    world.clone.git(&["remote", "set-url", "origin", other]);
    assert_has(&printed(&world, &["check", "src/db.ts"], 1), &["UNKNOWN_REPOSITORY"]);
    let error = error(&world, &["log"], 1);
    let beginning = "coord: repo_url names github.com/team/other";
    assert!(error.starts_with(beginning), "{error}");
}

#[test]
fn commands_outside_of_a_working_copy_fail_with_a_message() {
    let world = world();
    let folder = world.folder("empty");
    for args in [
        &["check", "a"][..],
        &["claim", "a", "-m", "b"],
        &["release", "a"],
        &["status"],
        &["log"],
    ] {
        let (code, _, error) = parts(&world.coord(&folder).args(args).output().unwrap());
        assert_eq!(code, 1, "{args:?}");
        assert!(error.starts_with("coord: ") && error.contains("repository"), "{error}");
    }
}

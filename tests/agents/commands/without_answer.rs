//! A server that does not answer, or refuses the caller; a folder that is not a working copy.

use super::{json, parts, printed, run, world};

/// A port on which nothing listens.
const NOBODY: &str = "http://127.0.0.1:1";

#[test]
fn no_proxy_is_used_for_the_server_of_this_machine() {
    let world = world();
    let mut status = world.coord(world.clone.path());
    for proxy in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        status.env(proxy, NOBODY);
    }
    for exception in ["NO_PROXY", "no_proxy"] {
        status.env_remove(exception);
    }
    let (code, out, error) = parts(&status.arg("status").output().unwrap());
    assert_eq!(code, 0, "{out}{error}");
}

// rule: commands#exit-status
#[test]
fn without_an_answer_nothing_may_be_written_and_the_status_is_4() {
    let world = world();
    let check = printed(&world, &["check", "src/db.ts", "--url", NOBODY], 4);
    assert!(
        check.starts_with("STOP: Coord cannot determine the locks: http://127.0.0.1:1 gives no answer: "),
        "{check}"
    );
    assert_eq!(
        json(&world, &["check", "src/db.ts", "--url", NOBODY, "--json"], 4)["status"],
        "OFFLINE"
    );
    let claim = printed(
        &world,
        &["claim", "src/db.ts", "-m", "Adding a pool", "--url", NOBODY],
        4,
    );
    assert!(
        claim.starts_with("STOP: Writing is not safe without locks: "),
        "{claim}"
    );
    printed(&world, &["release", "src/db.ts", "--url", NOBODY], 4);
    printed(&world, &["release", "--all", "--url", NOBODY], 4);
    for args in [&["status", "--url", NOBODY][..], &["log", "--url", NOBODY]] {
        let (code, out, error) = run(&world, args);
        assert_eq!((code, out.as_str()), (4, ""), "{args:?}");
        assert!(
            error.starts_with("coord: http://127.0.0.1:1 gives no answer: "),
            "{error}"
        );
    }
    assert_eq!(world.server(), None, "no server was started");
}

#[test]
fn a_repository_that_the_server_lacks_is_an_error() {
    let world = world();
    printed(&world, &["check", "src/db.ts"], 0);
    world
        .clone
        .git(&["remote", "set-url", "origin", "https://github.com/team/other"]);
    let (code, out, _) = run(&world, &["check", "src/db.ts"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("UNKNOWN_REPOSITORY"), "{out}");
    let (code, _, error) = run(&world, &["log"]);
    assert_eq!(code, 1);
    assert!(
        error.starts_with("coord: repo_url names github.com/team/other"),
        "{error}"
    );
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

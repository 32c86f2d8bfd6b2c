//! A clone whose locks are kept in another store than that of its folder: no command starts a server that knows none of them.

use std::path::Path;
use std::process::{Command, Stdio};

use coord_test_support::waiting::block_until;

use crate::world::World;

/// Runs `coord serve` with `options`, and ends it once it listens and `meanwhile` is over.
fn served(world: &World, options: &[&str], meanwhile: impl FnOnce()) {
    let mut command = world.coord(world.clone.path());
    command.args(["serve", "--port", "0"]).args(options);
    let mut server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let id = server.id().to_string();
    block_until("the server listens", || world.server().as_deref() == Some(&id));
    meanwhile();
    assert!(Command::new("kill").arg(&id).status().unwrap().success());
    server.wait().unwrap();
    block_until("it is announced no more", || world.server().is_none());
}

/// Asserts that a check names `options` to start a server with, and starts none.
fn is_refused(world: &World, options: &str) {
    let checked = world.run(&["check", "a.txt"]);
    let said = String::from_utf8(checked.stderr).unwrap();
    assert!(!checked.status.success(), "{said}");
    let expected = format!("the locks of this clone are kept by `coord serve {options}`, which does not run");
    assert!(said.contains(&expected), "{said}");
    let doctor = String::from_utf8(world.run(&["doctor"]).stdout).unwrap();
    assert!(doctor.contains(&format!("coord serve {options}\n")), "{doctor}");
    // Somebody may hold what is committed.
    let guard = world.run(&["guard", "pre-commit", "--on-error", "deny"]);
    let said = String::from_utf8(guard.stderr).unwrap();
    assert!(!guard.status.success() && said.contains(&expected), "{said}");
    assert_eq!(world.server(), None, "no server was started");
    assert!(!world.clone.path().join(".git/coord/store.redb").exists());
}

#[test]
fn no_server_is_started_beside_the_store_of_one_that_has_ended() {
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.folder("data");
    let data = folder.to_str().unwrap();
    served(&world, &["--data-dir", data], || {
        let claimed = world.run(&["claim", "a.txt", "-m", "Adding a line"]);
        assert!(claimed.status.success(), "{claimed:?}");
    });
    is_refused(&world, &format!("--data-dir {data}"));
    // The same server again has the lock.
    served(&world, &["--data-dir", data], || {
        let status = String::from_utf8(world.run(&["status"]).stdout).unwrap();
        assert!(status.contains("a.txt"), "{status}");
    });
    // Whoever serves the clone with its own store has decided, and so does a command afterward.
    served(&world, &[], || assert!(world.run(&["check", "a.txt"]).status.success()));
    assert!(world.run(&["check", "a.txt"]).status.success());
    assert!(world.server().is_some());
}

#[test]
fn the_password_of_a_store_is_not_kept() {
    let world = World::with(&[("a.txt", "a")]);
    served(&world, &["--redis", "redis://ann:secret@127.0.0.1:1/2"], || ());
    is_refused(&world, "--redis redis://127.0.0.1:1/2");
}

/// The locks of the second repository are in the folder of the first.
#[test]
fn a_clone_that_is_served_beside_another_has_no_store_of_its_own() {
    let (world, first) = (World::with(&[("a.txt", "a")]), World::with(&[("b.txt", "b")]));
    first
        .clone
        .git(&["remote", "set-url", "origin", "https://github.com/team/first"]);
    let path = |world: &World| Path::new(world.clone.path()).to_str().unwrap().to_owned();
    served(&world, &["--repo", &path(&first), "--repo", &path(&world)], || ());
    is_refused(&world, &format!("--repo {}", path(&first)));
}

//! A clone whose locks are kept in another store than that of its folder: no command starts a server that knows none of them.

use crate::served_name::Server;
use coord_test_worlds::world::World;

/// Asserts that a check names the store at `place`, and starts no server.
fn is_refused(world: &World, place: &str) {
    let checked = world.run(&["check", "a.txt"]);
    let errors = String::from_utf8(checked.stderr).unwrap();
    assert!(!checked.status.success(), "{errors}");
    let expected =
        format!("the locks of this clone are kept elsewhere, in the {place}, whose coord serve does not run");
    assert!(errors.contains(&expected), "{errors}");
    let doctor = String::from_utf8(world.run(&["doctor"]).stdout).unwrap();
    assert!(
        doctor.contains(&format!("start coord serve again with the {place}\n")),
        "{doctor}"
    );
    // Another agent may hold the committed files.
    let guard = world.run(&["guard", "pre-commit", "--on-error", "deny"]);
    let errors = String::from_utf8(guard.stderr).unwrap();
    assert!(!guard.status.success() && errors.contains(&expected), "{errors}");
    assert_eq!(world.server(), None, "no server was started");
    assert!(!world.clone.path().join(".git/coord/store.redb").exists());
}

// rule: servers#shared-store
#[test]
fn no_server_is_started_beside_the_store_of_one_that_has_ended() {
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.folder("data").canonicalize().unwrap();
    let data = ["--data-dir", folder.to_str().unwrap()];
    let server = Server::start(&world, &data);
    let claimed = world.run(&["claim", "a.txt", "-m", "Adding a line"]);
    assert!(claimed.status.success(), "{claimed:?}");
    drop(server);
    is_refused(&world, &format!("embedded store at {}/store.redb", folder.display()));
    // The same server again has the lock.
    let server = Server::start(&world, &data);
    let status = String::from_utf8(world.run(&["status"]).stdout).unwrap();
    assert!(status.contains("a.txt"), "{status}");
    drop(server);
    // A server that serves the clone with its own store decides this, and so does a later command.
    drop(Server::start(&world, &[]));
    assert!(world.run(&["check", "a.txt"]).status.success());
    assert!(world.server().is_some());
}

#[test]
fn the_password_of_a_store_is_not_kept() {
    let world = World::with(&[("a.txt", "a")]);
    drop(Server::start(&world, &["--redis", "redis://ann:secret@127.0.0.1:1/2"]));
    is_refused(&world, "Redis at redis://127.0.0.1:1/2");
}

/// The locks of the second repository are in the folder of the first.
#[test]
fn a_clone_that_is_served_beside_another_has_no_separate_store() {
    let (world, first) = (World::with(&[("a.txt", "a")]), World::with(&[("b.txt", "b")]));
    first
        .clone
        .git(&["remote", "set-url", "origin", "https://github.com/team/first"]);
    let path = |world: &World| world.clone.path().canonicalize().unwrap().display().to_string();
    drop(Server::start(
        &world,
        &["--repo", &path(&first), "--repo", &path(&world)],
    ));
    is_refused(
        &world,
        &format!("embedded store at {}/.git/coord/store.redb", path(&first)),
    );
}

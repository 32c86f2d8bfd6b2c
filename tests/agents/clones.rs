//! Several clones of one repository on one machine: one server has the locks of all, or it is said that they do not see each other's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use coord_test_support::git::Repo;
use coord_test_support::process::free_address;
use coord_test_support::waiting::block_until;

use crate::commands::parts;
use crate::processes::{end_server, kill};
use coord_test_worlds::world::{REPO_URL, World, server_of};

/// Runs `coord ARGS` in `clone`; returns status, standard output, and standard error.
fn run_coord(world: &World, clone: &Repo, args: &[&str]) -> (i32, String, String) {
    parts(&world.coord(clone.path()).args(args).output().unwrap())
}

fn claims(world: &World, clone: &Repo, file: &str, agent: &str) -> i32 {
    run_coord(world, clone, &["claim", file, "-m", "Adding a line", "--agent", agent]).0
}

/// Ends the server of `clone`, and waits until it has ended.
fn end_server_of(clone: &Repo) {
    kill(&server_of(clone).unwrap());
    block_until("the server ends", || server_of(clone).is_none());
}

fn two_clones() -> (World, Repo) {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let two = world.another_clone("two");
    (world, two)
}

// rule: servers#clones
#[test]
fn the_second_clone_uses_the_server_of_the_first() {
    let (world, two) = two_clones();
    assert_eq!(claims(&world, &world.clone, "a.txt", "one"), 0);
    assert_eq!(claims(&world, &two, "a.txt", "two"), 3, "it is held in the other clone");
    assert_eq!(claims(&world, &two, "b.txt", "two"), 0);
    assert_eq!(server_of(&two), None);
    let whose = "the coord serve of another clone of this repository, ";
    for args in [["doctor"], ["status"]] {
        let (_, out, _) = run_coord(&world, &two, &args);
        let home = world.clone.path().canonicalize().unwrap();
        assert!(out.contains(&format!("{whose}{}", home.display())), "{out}");
    }
    let (_, out, _) = run_coord(&world, &world.clone, &["status"]);
    assert!(
        out.contains("the coord serve of this clone") && out.contains("b.txt"),
        "{out}"
    );
    // A command of the second clone starts it where the locks are.
    end_server(&world);
    assert_eq!(claims(&world, &two, "a.txt", "two"), 3);
    assert!(world.server().is_some() && server_of(&two).is_none());
}

#[test]
fn clones_that_begin_at_one_time_agree_on_one_server() {
    let (world, two) = two_clones();
    let outcomes = std::thread::scope(|scope| {
        let all = [(&world.clone, "one"), (&two, "two")]
            .map(|(clone, agent)| scope.spawn(|| claims(&world, clone, "a.txt", agent)));
        all.map(|claim| claim.join().unwrap())
    });
    assert!(outcomes == [0, 3] || outcomes == [3, 0], "{outcomes:?}");
    if let Some(server) = server_of(&two) {
        assert_eq!(world.server(), None);
        kill(&server);
    }
}

/// The head of a branch is the newest that any of the clones knows, and the commits of each can be read.
#[test]
fn the_server_reads_the_commits_of_every_clone_that_uses_it() {
    let (world, two) = two_clones();
    assert_eq!(claims(&world, &world.clone, "a.txt", "one"), 0);
    two.commit(&[("b.txt", "b, by the second clone")]);
    two.git(&["push", "--quiet", "origin", "HEAD:main"]);
    assert_eq!(claims(&world, &two, "b.txt", "two"), 0, "it has the head");
    let (status, out, _) = run_coord(&world, &two, &["release", "b.txt", "--agent", "two"]);
    assert_eq!(status, 0, "{out}");
    let (status, out, _) = run_coord(&world, &world.clone, &["check", "b.txt", "--agent", "one"]);
    assert!(status != 0 && out.contains("PULL"), "{status}: {out}");
    world.clone.git(&["pull", "--quiet", "--rebase", "origin", "main"]);
    assert_eq!(
        run_coord(&world, &world.clone, &["check", "b.txt", "--agent", "one"]).0,
        0
    );
    // It is cloned again at its place, with a commit that no other one has.
    let origin = world.origin().path().display().to_string();
    let path = two.path().display().to_string();
    std::fs::remove_dir_all(two.path()).unwrap();
    assert_eq!(
        run_coord(&world, &world.clone, &["check", "b.txt", "--agent", "one"]).0,
        0
    );
    world.origin().git(&["clone", "--quiet", &origin, &path]);
    two.git(&["remote", "set-url", "origin", REPO_URL]);
    two.git(&["config", &format!("url.file://{origin}.insteadOf"), REPO_URL]);
    two.commit(&[("a.txt", "a, by the second clone")]);
    two.git(&["push", "--quiet", "origin", "HEAD:main"]);
    assert_eq!(run_coord(&world, &two, &["check", "b.txt", "--agent", "two"]).0, 0);
    let (status, out, _) = run_coord(&world, &world.clone, &["check", "b.txt", "--agent", "one"]);
    assert!(status != 0 && out.contains("PULL"), "{status}: {out}");
}

// rule: servers#two-stores
#[test]
fn clones_with_separate_servers_are_warned_and_the_named_fix_joins_them() {
    let (world, two) = two_clones();
    // As before there was a list of clones.
    let mut apart = world.coord(two.path());
    apart
        .args(["check", "a.txt"])
        .env("XDG_STATE_HOME", world.folder("apart"));
    assert!(apart.status().unwrap().success());
    assert_eq!(claims(&world, &world.clone, "a.txt", "one"), 0);
    end_server_of(&two);
    assert_eq!(claims(&world, &two, "a.txt", "two"), 0, "it goes on with its own store");
    let log = std::fs::read_to_string(two.path().join(".git/coord/serve.log")).unwrap();
    let warning = "do not see each other's locks";
    assert!(log.contains(warning) && log.contains("Warning: another clone"), "{log}");
    for clone in [&world.clone, &two] {
        let (_, out, _) = run_coord(&world, clone, &["status"]);
        assert!(out.contains(warning), "{out}");
        let (_, doctor, _) = run_coord(&world, clone, &["doctor", "--json"]);
        let findings: serde_json::Value = serde_json::from_str(&doctor).unwrap();
        let findings = findings.as_array().unwrap();
        let finding = findings.iter().find(|finding| finding["subject"] == "clones").unwrap();
        let mend = finding["mend"].as_str().unwrap();
        assert!(mend.contains("/two/.git/coord/store.redb"), "{mend}");
        if clone.path() == two.path() {
            assert!(world.in_shell(Path::new("/"), mend).status.success());
        }
    }
    block_until("the second server ends", || server_of(&two).is_none());
    assert_eq!(claims(&world, &two, "a.txt", "two"), 3);
    let (_, out, _) = run_coord(&world, &two, &["status"]);
    assert!(!out.contains(warning), "{out}");
}

// rule: servers#clones
#[test]
fn one_server_serves_two_clones_of_one_repository() {
    let (world, two) = two_clones();
    let mut command = world.coord(world.clone.path());
    command.args(["serve", "--port", "0", "--repo"]).arg(world.clone.path());
    command
        .arg("--repo")
        .arg(two.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut server = command.spawn().unwrap();
    let id = Some(server.id().to_string());
    block_until("the server listens", || world.server() == id && server_of(&two) == id);
    assert_eq!(claims(&world, &world.clone, "a.txt", "one"), 0);
    assert_eq!(claims(&world, &two, "a.txt", "two"), 3);
    kill(&server.id().to_string());
    assert!(server.wait().unwrap().success());
    assert_eq!(
        claims(&world, &two, "a.txt", "two"),
        3,
        "the store is that of the first one"
    );
    assert_eq!(server_of(&two), None);
}

#[test]
fn a_damaged_or_outdated_list_of_clones_blocks_no_check() {
    let (world, two) = two_clones();
    assert!(run_coord(&world, &two, &["check", "a.txt"]).0 == 0);
    end_server_of(&two);
    std::fs::remove_dir_all(two.path().join(".git/coord")).unwrap();
    let lists = world.folder("home/.local/state/coord/clones");
    let mut files = std::fs::read_dir(&lists).unwrap().map(|file| file.unwrap().path());
    let is_json = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let list = files.find(is_json).unwrap();
    let other = Repo::init(world.folder("other"), &[]);
    other.commit(&[("a.txt", "a")]);
    let named = |home: &Path| format!(r#"{{"repo":"github.com/team/project","home":"{}"}}"#, home.display());
    for text in [
        String::new(),
        "{".repeat(1000),
        named(Path::new("/nowhere/.git")),
        named(&other.path().join(".git")),
        named(&world.folder("empty")),
    ] {
        std::fs::write(&list, &text).unwrap();
        let (status, _, error) = run_coord(&world, &two, &["check", "a.txt"]);
        assert_eq!(status, 0, "{text}: {error}");
        end_server_of(&two);
        std::fs::remove_dir_all(two.path().join(".git/coord")).unwrap();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&lists).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "it is the user's alone");
    }
}

// rule: servers#port
#[test]
fn a_server_that_starts_by_itself_listens_on_the_port_of_its_user() {
    let world = World::with(&[("a.txt", "a")]);
    let port = || free_address().port().to_string();
    let listens_on = |expected: &str, is_set: bool, run: &dyn Fn(&mut Command)| {
        let mut command = world.coord(world.clone.path());
        command.args(["check", "a.txt"]);
        run(&mut command);
        let (status, _, error) = parts(&command.output().unwrap());
        assert_eq!(status, 0, "{error}");
        let announced = std::fs::read_to_string(world.clone.path().join(".git/coord/listening")).unwrap();
        assert_eq!(announced.contains(&format!(":{expected} ")), is_set, "{announced}");
        end_server(&world);
    };
    let (own, users, named) = (port(), port(), port());
    // A setting by the author of the repository decides nothing.
    world.clone.git(&["config", "coord.port", &own]);
    listens_on(&own, false, &|_| {});
    let settings = format!("[coord]\n\tport = {users}\n");
    std::fs::write(world.folder("home").join(".gitconfig"), settings).unwrap();
    listens_on(&users, true, &|_| {});
    listens_on(&named, true, &|command| {
        command.env("COORD_PORT", &named);
    });
    let mut check = world.coord(world.clone.path());
    check.args(["check", "a.txt"]).env("COORD_PORT", "many");
    let (status, _, error) = parts(&check.output().unwrap());
    assert!(status != 0 && error.contains("COORD_PORT is \"many\""), "{error}");
}

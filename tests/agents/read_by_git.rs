//! Git reads the repositories that gix cannot: those of another user that git trusts, and references in the reftable
//! format.

use std::path::Path;
use std::process::Command;

use coord_test_support::git::Repo;
use coord_test_support::skipping::skip;

use crate::commands::{parts, printed};
use crate::hook::session;
use crate::processes::{kill, program_like};
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

// rule: servers#git-versions
#[test]
fn a_repository_with_reftables_is_served_and_guarded() {
    let mut world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
    let path = world.folder("reftable");
    let origin = world.origin().path().display().to_string();
    let shown = path.to_str().unwrap();
    let clone = ["clone", "--quiet", "--ref-format=reftable", &origin, shown];
    if world.origin().try_git(&clone).is_err() {
        return skip("git makes no reftables");
    }
    world.clone = Repo::at(&path);
    let run = |args: &[&str]| printed(&world, args, 0);
    run(&["claim", "a.txt", "-m", "Adding a line", "--agent", "one"]);
    let ada = session(&world, &CLAUDE_CODE, None);
    assert_has(&ada.may_not_edit("a.txt"), &["one"]);
    ada.may_edit("b.txt");
    assert_has(&run(&["status"]), &["main"]);
    run(&["graph", "--stats", "--rev", "HEAD"]);
    world.clone.commit(&[("a.txt", "a, changed")]);
    world.clone.git(&["push", "--quiet", "origin", "HEAD:main"]);
    run(&["release", "a.txt", "--agent", "one"]);
    // A teammate pushes; the clone fetches, and is behind.
    world.others_push("main", &[("c.txt", "c, changed")]);
    world.clone.git(&["fetch", "--quiet"]);
    let (_, out, _) = parts(&world.run(&["check", "c.txt", "--agent", "two"]));
    assert_has(&out, &["PULL"]);
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    run(&["check", "c.txt", "--agent", "two"]);
    // In a worktree, whose HEAD is its own.
    let there = world.folder("reftable-worktree");
    let shown = there.to_str().unwrap();
    let add = ["worktree", "add", "--quiet", "-b", "feature", shown, "origin/main"];
    world.clone.git(&add);
    let (_, out, _) = parts(&world.coord(&there).args(["doctor"]).output().unwrap());
    assert_has(&out, &["the work on feature is for main"]);
}

// rule: servers#foreign-owner
#[test]
fn a_repository_is_trusted_where_git_trusts_it() {
    let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut probe = Command::new(other[0]);
    let ended = probe.args(&other[1..]).arg("true").status();
    if !ended.is_ok_and(|status| status.success()) {
        return skip("setpriv cannot run as another user");
    }
    let world = World::with(&[("a.txt", "a")]);
    let clone = world.clone.path().canonicalize().unwrap();
    let root = world.clone.path().parent().unwrap();
    for args in [&["-R", "a+rwX"][..], &["a+rx"]] {
        assert!(Command::new("chmod").args(args).arg(root).status().unwrap().success());
    }
    let home = world.folder("home-of-nobody");
    std::fs::write(home.join("settings"), "[include]\n\tpath = included\n").unwrap();
    let included = format!("[safe]\n\tdirectory = {}\n", clone.display());
    std::fs::write(home.join("included"), included).unwrap();
    World::give_to_nobody(&home);
    let check = |settings: &Path| {
        let coord = world.coord(world.clone.path());
        let mut command = program_like(&coord, other[0]);
        command.args(&other[1..]).arg(coord.get_program());
        command.args(["check", "a.txt"]).env("HOME", &home);
        command.env("GIT_CONFIG_GLOBAL", settings);
        parts(&command.output().unwrap())
    };
    let (status, _, error) = check(Path::new("/dev/null"));
    assert!(status != 0 && error.contains("safe.directory"), "{error}");
    // Where git itself cannot tell, its reason is named.
    let damaged = home.join("damaged");
    std::fs::write(&damaged, "[safe\n").unwrap();
    let (status, _, error) = check(&damaged);
    assert!(status != 0 && !error.contains("safe.directory"), "{error}");
    assert_has(&error, &["bad config line 1"]);
    let (status, out, error) = check(&home.join("settings"));
    assert_eq!(status, 0, "{out}{error}");
    kill(&world.server().unwrap());
}

//! Git reads the repositories that gix cannot: those of another user that git trusts, and references in the reftable
//! format.

use std::path::Path;
use std::process::Command;

use coord_test_support::git::Repo;
use coord_test_support::skipping::skip;

use crate::commands::parts;
use crate::hook::session;
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

// rule: servers#git-versions
#[test]
fn a_repository_with_reftables_is_served_and_guarded() {
    let mut world = World::with(&[("a.txt", "a"), ("b.txt", "b"), ("c.txt", "c")]);
    let path = world.folder("reftable");
    let origin = world.origin().path().display().to_string();
    let made = world.origin().try_git(&[
        "clone",
        "--quiet",
        "--ref-format=reftable",
        &origin,
        &path.display().to_string(),
    ]);
    if made.is_err() {
        return skip("git makes no reftables");
    }
    world.clone = Repo::at(&path);
    let run = |args: &[&str], expected: i32| {
        let (status, out, error) = parts(&world.run(args));
        assert_eq!(status, expected, "{args:?}: {out}{error}");
        out
    };
    run(&["claim", "a.txt", "-m", "Adding a line", "--agent", "one"], 0);
    let ada = session(&world, &CLAUDE_CODE, None);
    assert!(ada.denial(&ada.edits("a.txt")).is_some_and(|why| why.contains("one")));
    assert_eq!(ada.denial(&ada.edits("b.txt")), None);
    assert!(run(&["status"], 0).contains("main"));
    run(&["graph", "--stats", "--rev", "HEAD"], 0);
    world.clone.commit(&[("a.txt", "a, changed")]);
    world.clone.git(&["push", "--quiet", "origin", "HEAD:main"]);
    run(&["release", "a.txt", "--agent", "one"], 0);
    // A teammate pushes; the clone fetches, and is behind.
    world.others_push("main", &[("c.txt", "c, changed")]);
    world.clone.git(&["fetch", "--quiet"]);
    let (_, out, _) = parts(&world.run(&["check", "c.txt", "--agent", "two"]));
    assert!(out.contains("PULL"), "{out}");
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    run(&["check", "c.txt", "--agent", "two"], 0);
    // In a worktree, whose HEAD is its own.
    let there = world.folder("reftable-worktree");
    let shown = there.display().to_string();
    world
        .clone
        .git(&["worktree", "add", "--quiet", "-b", "feature", &shown, "origin/main"]);
    let (status, out, error) = parts(&world.coord(&there).args(["doctor"]).output().unwrap());
    assert!(
        out.contains("the work on feature is for main"),
        "{status}: {out}{error}"
    );
}

// rule: servers#foreign-owner
#[test]
fn a_repository_is_trusted_where_git_trusts_it() {
    let other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let mut probe = Command::new(other[0]);
    if !probe
        .args(&other[1..])
        .arg("true")
        .status()
        .is_ok_and(|status| status.success())
    {
        return skip("setpriv cannot run as another user");
    }
    let world = World::with(&[("a.txt", "a")]);
    let root = world.clone.path().parent().unwrap().to_owned();
    let run =
        |program: &str, args: &[&str]| assert!(Command::new(program).args(args).arg(&root).status().unwrap().success());
    run("chmod", &["-R", "a+rwX"]);
    run("chmod", &["a+rx"]);
    let home = world.folder("home-of-nobody");
    std::fs::write(home.join("settings"), "[include]\n\tpath = included\n").unwrap();
    let included = format!(
        "[safe]\n\tdirectory = {}\n",
        world.clone.path().canonicalize().unwrap().display()
    );
    std::fs::write(home.join("included"), included).unwrap();
    World::give_to_nobody(&home);
    let check = |settings: &Path| {
        let coord = world.coord(world.clone.path());
        let mut command = Command::new(other[0]);
        command
            .args(&other[1..])
            .arg(coord.get_program())
            .args(["check", "a.txt"]);
        for (name, value) in coord.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
            .env("HOME", &home)
            .env("GIT_CONFIG_GLOBAL", settings)
            .current_dir(world.clone.path());
        parts(&command.output().unwrap())
    };
    let (status, _, error) = check(Path::new("/dev/null"));
    assert!(status != 0 && error.contains("safe.directory"), "{error}");
    // Where git itself cannot tell, its reason is named.
    let damaged = home.join("damaged");
    std::fs::write(&damaged, "[safe\n").unwrap();
    let (status, _, error) = check(&damaged);
    assert!(
        status != 0 && error.contains("bad config line 1") && !error.contains("safe.directory"),
        "{error}"
    );
    let (status, out, error) = check(&home.join("settings"));
    assert_eq!(status, 0, "{out}{error}");
    let server = world.server().unwrap();
    assert!(Command::new("kill").arg(server).status().unwrap().success());
}

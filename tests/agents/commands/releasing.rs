//! Releases: what is pushed, what is not, and everything at once.

use super::{json, printed, steady, world};

#[test]
fn a_change_is_released_when_it_is_pushed_and_push_is_explained() {
    let world = world();
    printed(&world, &["claim", "src/db.ts", "README.md", "-m", "Adding a pool"], 0);
    std::fs::write(world.clone.path().join("src/db.ts"), "export const query = 3;\n").unwrap();
    let uncommitted = printed(&world, &["release", "src/db.ts"], 3);
    assert!(uncommitted.starts_with("PUSH: "), "{uncommitted}");
    world.clone.commit(&[("src/db.ts", "export const query = 2;\n")]);
    let refused = printed(&world, &["release", "--all"], 3);
    assert_eq!(json(&world, &["release", "--all", "--json"], 3)["error"], "NOT_PUSHED");
    world.clone.git(&["push", "--quiet"]);
    let released = printed(&world, &["release", "--all"], 0);
    let nothing = printed(&world, &["release", "--all"], 0);
    assert_eq!(
        json(&world, &["release", "--all", "--json"], 0)["held"],
        serde_json::json!([])
    );
    insta::assert_snapshot!(steady(&[refused, released, nothing].join("----\n"), &world));
}

#[test]
fn unchanged_files_are_released_without_a_push_and_new_files_are_changes() {
    let world = world();
    let root = world.clone.path();
    printed(&world, &["claim", "src/db.ts", "src/new.ts", "-m", "Adding a pool"], 0);
    std::fs::write(root.join("src/new.ts"), "").unwrap();
    printed(&world, &["release", "src/new.ts"], 3);
    let released = printed(&world, &["release", "src/db.ts"], 0);
    assert!(released.starts_with("PROCEED: Released 'src/db.ts'"), "{released}");
    std::fs::remove_file(root.join("src/new.ts")).unwrap();
    printed(&world, &["release", "src/new.ts"], 0);
}

#[test]
fn everything_is_what_one_holder_has_and_not_what_its_other_agents_have() {
    let world = world();
    for (file, agent) in [
        ("README.md", None),
        ("src/db.ts", Some("one")),
        ("src/new.ts", Some("two")),
    ] {
        let mut args = vec!["claim", file, "-m", "Adding a pool"];
        args.extend(agent.iter().flat_map(|agent| ["--agent", *agent]));
        printed(&world, &args, 0);
    }
    let files = || -> Vec<String> {
        let status = json(&world, &["status", "--json"], 0);
        let locks = status["locks"].as_array().unwrap().iter();
        locks
            .map(|lock| lock["file_path"].as_str().unwrap().to_owned())
            .collect()
    };
    printed(&world, &["release", "--all", "--abandon"], 0);
    assert_eq!(files(), ["src/db.ts", "src/new.ts"]);
    printed(&world, &["release", "--all", "--agent", "one"], 0);
    assert_eq!(files(), ["src/new.ts"]);
    printed(&world, &["release", "src/n*.ts", "--agent", "two"], 1);
    printed(&world, &["release", "src/new.ts", "--abandon", "--agent", "two"], 0);
    assert_eq!(files(), [""; 0]);
}

#[test]
fn a_working_copy_that_is_behind_gets_pull() {
    let world = world();
    let other = world.worktree("other");
    other.commit(&[("src/db.ts", "export const query = 3;\n")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let pull = printed(&world, &["claim", "src/db.ts", "-m", "Adding a pool"], 3);
    assert!(
        pull.starts_with("PULL: ") && pull.contains("\nRun: git pull --rebase\n"),
        "{pull}"
    );
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    printed(&world, &["claim", "src/db.ts", "-m", "Adding a pool"], 0);
}

// rule: commands#person
#[test]
fn a_person_force_releases_a_lock_with_a_reason() {
    let world = world();
    printed(
        &world,
        &["claim", "src/db.ts", "-m", "Adding a pool", "--agent", "one"],
        0,
    );
    // Only whole: with a reason, for files that are named.
    printed(&world, &["release", "--force", "src/db.ts"], 2);
    printed(&world, &["release", "--all", "--force", "--reason", "Why"], 2);
    printed(&world, &["release", "src/db.ts", "--reason", "Why"], 2);
    // No agent does it, and none is told how.
    let reason = "The release needs this file today";
    let by_agent = ["release", "--force", "src/db.ts", "--reason", reason, "--agent", "two"];
    let refused = world.run(&by_agent);
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(1) && errors.contains("two is an agent") && !errors.contains("--agent"),
        "{errors}"
    );
    let forced = printed(&world, &["release", "--force", "src/db.ts", "--reason", reason], 0);
    assert!(
        forced.starts_with("PROCEED: Force-released 'src/db.ts' of user "),
        "{forced}"
    );
    let stop = printed(
        &world,
        &["claim", "src/db.ts", "-m", "Adding a pool", "--agent", "one"],
        3,
    );
    assert!(stop.starts_with("STOP: user "), "{stop}");
    assert!(stop.contains(reason) && stop.contains("LOCK_TAKEN"), "{stop}");
    assert!(
        stop.contains("coord release --abandon") && !stop.contains("\"abandon\""),
        "{stop}"
    );
    let log = printed(&world, &["log"], 0);
    assert!(log.contains("force-released by"), "{log}");
}

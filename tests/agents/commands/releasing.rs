//! Releases: what is pushed, what is not, and everything at once.

use serde_json::json;

use super::{claim, error, json as json_of, locked, printed, steady, world};
use crate::texts::{assert_has, assert_lacks};

#[test]
fn a_change_is_released_when_it_is_pushed_and_push_is_explained() {
    let world = world();
    printed(&world, &["claim", "src/db.ts", "README.md", "-m", "Adding a pool"], 0);
    std::fs::write(world.clone.path().join("src/db.ts"), "export const query = 3;\n").unwrap();
    let uncommitted = printed(&world, &["release", "src/db.ts"], 3);
    assert!(uncommitted.starts_with("PUSH: "), "{uncommitted}");
    world.clone.commit(&[("src/db.ts", "export const query = 2;\n")]);
    let refused = printed(&world, &["release", "--all"], 3);
    let all = ["release", "--all", "--json"];
    assert_eq!(json_of(&world, &all, 3)["error"], "NOT_PUSHED");
    world.clone.git(&["push", "--quiet"]);
    let released = printed(&world, &["release", "--all"], 0);
    let nothing = printed(&world, &["release", "--all"], 0);
    assert_eq!(json_of(&world, &all, 0)["held"], json!([]));
    insta::assert_snapshot!(steady(&[refused, released, nothing].join("----\n"), &world));
}

#[test]
fn unchanged_files_are_released_without_a_push_and_new_files_are_changes() {
    let world = world();
    let new = world.clone.path().join("src/new.ts");
    printed(&world, &["claim", "src/db.ts", "src/new.ts", "-m", "Adding a pool"], 0);
    std::fs::write(&new, "").unwrap();
    printed(&world, &["release", "src/new.ts"], 3);
    let released = printed(&world, &["release", "src/db.ts"], 0);
    assert!(released.starts_with("PROCEED: Released 'src/db.ts'"), "{released}");
    std::fs::remove_file(new).unwrap();
    printed(&world, &["release", "src/new.ts"], 0);
}

#[test]
fn everything_is_what_one_holder_has_and_not_what_its_other_agents_have() {
    let world = world();
    printed(&world, &["claim", "README.md", "-m", "Adding a pool"], 0);
    claim(&world, "one", "src/db.ts", "Adding a pool", 0);
    claim(&world, "two", "src/new.ts", "Adding a pool", 0);
    printed(&world, &["release", "--all", "--abandon"], 0);
    assert_eq!(locked(&world), ["src/db.ts", "src/new.ts"]);
    printed(&world, &["release", "--all", "--agent", "one"], 0);
    assert_eq!(locked(&world), ["src/new.ts"]);
    printed(&world, &["release", "src/n*.ts", "--agent", "two"], 1);
    printed(&world, &["release", "src/new.ts", "--abandon", "--agent", "two"], 0);
    assert_eq!(locked(&world), [""; 0]);
}

#[test]
fn a_working_copy_that_is_behind_gets_pull() {
    let world = world();
    let other = world.worktree("other");
    other.commit(&[("src/db.ts", "export const query = 3;\n")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let pull = printed(&world, &["claim", "src/db.ts", "-m", "Adding a pool"], 3);
    assert!(pull.starts_with("PULL: "), "{pull}");
    assert_has(&pull, &["\nRun: git pull --rebase\n"]);
    world.clone.git(&["pull", "--quiet", "--rebase"]);
    printed(&world, &["claim", "src/db.ts", "-m", "Adding a pool"], 0);
}

// rule: commands#person
#[test]
fn a_person_force_releases_a_lock_with_a_reason() {
    let world = world();
    claim(&world, "one", "src/db.ts", "Adding a pool", 0);
    // Only whole: with a reason, for files that are named.
    printed(&world, &["release", "--force", "src/db.ts"], 2);
    printed(&world, &["release", "--all", "--force", "--reason", "Why"], 2);
    printed(&world, &["release", "src/db.ts", "--reason", "Why"], 2);
    // An agent may not, and the error does not say how.
    let reason = "The release needs this file today";
    let force = ["release", "--force", "src/db.ts", "--reason", reason];
    let errors = error(&world, &[&force[..], &["--agent", "two"]].concat(), 1);
    assert_has(&errors, &["two is an agent"]);
    assert_lacks(&errors, &["--agent"]);
    let forced = printed(&world, &force, 0);
    let beginning = "PROCEED: Force-released 'src/db.ts' of user ";
    assert!(forced.starts_with(beginning), "{forced}");
    let stop = claim(&world, "one", "src/db.ts", "Adding a pool", 3);
    assert!(stop.starts_with("STOP: user "), "{stop}");
    assert_has(&stop, &[reason, "LOCK_TAKEN", "coord release --abandon"]);
    assert_lacks(&stop, &["\"abandon\""]);
    assert_has(&printed(&world, &["log"], 0), &["force-released by"]);
}

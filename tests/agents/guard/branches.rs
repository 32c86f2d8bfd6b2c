//! Merges, work branches and empty pushes: what others have changed is not the committer's change, and what went past the hook before a
//! commit does not go past the one before a push.

use super::{bob_edits, fails, install, passes, write};
use crate::texts::{assert_has, assert_lacks};
use crate::worktree_agent::{path, world_with_guards};
use coord_test_worlds::world::World;

const FILES: [(&str, &str); 3] = [("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")];

// rule: hooks#pre-commit
#[test]
fn a_merge_is_checked_for_what_differs_from_every_parent() {
    let world = World::with(&FILES);
    install(&world, "pre-commit", "");
    world.others_push("main", &[("a.txt", "theirs\n"), ("b.txt", "theirs\n")]);
    world.clone.git(&["switch", "--quiet", "--create", "topic"]);
    world.clone.commit(&[("b.txt", "mine\n")]);
    bob_edits(&world, "a.txt");
    world.clone.git(&["fetch", "--quiet"]);
    // b.txt has a conflict, and a.txt only comes along.
    let merge = ["merge", "-q", "--no-edit", "origin/main"];
    let commit = ["commit", "-qm", "Merge main"];
    fails(&world, &[], &merge);
    write(&world, "b.txt", "both\n");
    world.clone.git(&["add", "b.txt"]);
    passes(&world, &[], &commit);
    // Changes that the merge itself makes are the committer's.
    world.clone.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    fails(&world, &[], &merge);
    write(&world, "a.txt", "mine\n");
    world.clone.git(&["add", "a.txt", "b.txt"]);
    let errors = fails(&world, &[], &commit);
    assert_has(&errors, &["a.txt: WRITING"]);
    assert_lacks(&errors, &["b.txt:"]);
}

#[test]
fn a_squash_of_the_branch_is_no_change_of_what_it_brings() {
    let world = World::with(&FILES);
    install(&world, "pre-commit", "");
    world.others_push("main", &[("a.txt", "theirs\n")]);
    world.clone.git(&["switch", "--quiet", "--create", "topic"]);
    bob_edits(&world, "a.txt");
    world.clone.git(&["fetch", "--quiet"]);
    world.clone.git(&["merge", "--quiet", "--squash", "origin/main"]);
    passes(&world, &[], &["commit", "-qm", "As on main"]);
}

#[test]
fn a_push_of_a_work_branch_checks_files_that_bypassed_the_commit_hook() {
    let world = World::with(&FILES);
    for hook in ["pre-commit", "pre-push"] {
        install(&world, hook, "");
    }
    world.clone.git(&["switch", "--quiet", "--create", "topic"]);
    bob_edits(&world, "a.txt");
    write(&world, "a.txt", "mine\n");
    passes(&world, &[], &["commit", "-qam", "Change a", "--no-verify"]);
    let push = ["push", "-q", "-u", "origin", "topic"];
    assert_has(&fails(&world, &[], &push), &["a.txt: WRITING"]);
    // A change that the branch already has counts as nobody's.
    world.others_push("main", &[("a.txt", "mine\n")]);
    world.clone.git(&["fetch", "--quiet"]);
    passes(&world, &[], &push);
}

#[test]
fn a_push_of_nothing_is_handed_on_as_nothing() {
    let world = world_with_guards(&FILES);
    let hook = world.clone.path().join(".git/hooks/pre-push");
    let mut text = std::fs::read_to_string(&hook).unwrap();
    text.push_str("wc -c | tr -d ' ' >\"$HOME/bytes\"\n");
    std::fs::write(&hook, text).unwrap();
    let path = path(&world);
    let pushed_bytes = || {
        passes(&world, &[("PATH", &path)], &["push", "-q"]);
        std::fs::read_to_string(world.folder("home").join("bytes")).unwrap()
    };
    assert_eq!(pushed_bytes(), "0\n");
    world.clone.commit(&[("c.txt", "cc\n")]);
    let line = format!("refs/heads/main {0} refs/heads/main {0}\n", "0".repeat(40));
    assert_eq!(pushed_bytes(), format!("{}\n", line.len()));
}

//! Merges, work branches and empty pushes: what others have changed is not the committer's change, and what went past the hook before a
//! commit does not go past the one before a push.

use super::{bob_edits, git, install, stderr_of};
use crate::worktree_agent::{path, world_with_guards};
use coord_test_worlds::world::World;

const FILES: [(&str, &str); 3] = [("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")];

// rule: hooks#pre-commit
#[test]
fn a_merge_is_checked_for_what_differs_from_every_parent() {
    let world = World::with(&FILES);
    install(&world, "pre-commit", "");
    let folder = world.clone.path();
    world.others_push("main", &[("a.txt", "theirs\n"), ("b.txt", "theirs\n")]);
    world.clone.git(&["switch", "--quiet", "--create", "topic"]);
    world.clone.commit(&[("b.txt", "mine\n")]);
    bob_edits(&world, "a.txt");
    world.clone.git(&["fetch", "--quiet"]);
    let merge = || git(&world, folder, &[], &["merge", "-q", "--no-edit", "origin/main"]);
    assert!(!merge().status.success(), "b.txt has a conflict");
    std::fs::write(folder.join("b.txt"), "both\n").unwrap();
    world.clone.git(&["add", "b.txt"]);
    let merged = git(&world, folder, &[], &["commit", "-qm", "Merge main"]);
    assert!(merged.status.success(), "a.txt only came along: {}", stderr_of(&merged));
    // Changes that the merge itself makes are the committer's.
    world.clone.git(&["reset", "--quiet", "--hard", "HEAD~1"]);
    assert!(!merge().status.success());
    std::fs::write(folder.join("a.txt"), "mine\n").unwrap();
    world.clone.git(&["add", "a.txt", "b.txt"]);
    let refused = git(&world, folder, &[], &["commit", "-qm", "Merge main"]);
    assert!(
        stderr_of(&refused).contains("a.txt: WRITING"),
        "{}",
        stderr_of(&refused)
    );
    assert!(!stderr_of(&refused).contains("b.txt:"), "{}", stderr_of(&refused));
}

#[test]
fn a_squash_of_the_branch_is_no_change_of_what_it_brings() {
    let world = World::with(&FILES);
    install(&world, "pre-commit", "");
    let folder = world.clone.path();
    world.others_push("main", &[("a.txt", "theirs\n")]);
    world.clone.git(&["switch", "--quiet", "--create", "topic"]);
    bob_edits(&world, "a.txt");
    world.clone.git(&["fetch", "--quiet"]);
    world.clone.git(&["merge", "--quiet", "--squash", "origin/main"]);
    let done = git(&world, folder, &[], &["commit", "-qm", "As on main"]);
    assert!(done.status.success(), "{}", stderr_of(&done));
}

#[test]
fn a_push_of_a_work_branch_checks_files_that_bypassed_the_commit_hook() {
    let world = World::with(&FILES);
    for hook in ["pre-commit", "pre-push"] {
        install(&world, hook, "");
    }
    let folder = world.clone.path();
    world.clone.git(&["switch", "--quiet", "--create", "topic"]);
    bob_edits(&world, "a.txt");
    std::fs::write(folder.join("a.txt"), "mine\n").unwrap();
    let past = git(&world, folder, &[], &["commit", "-qam", "Change a", "--no-verify"]);
    assert!(past.status.success(), "{}", stderr_of(&past));
    let push = || git(&world, folder, &[], &["push", "-q", "-u", "origin", "topic"]);
    assert!(stderr_of(&push()).contains("a.txt: WRITING"), "{}", stderr_of(&push()));
    // A change that the branch already has counts as nobody's.
    world.others_push("main", &[("a.txt", "mine\n")]);
    world.clone.git(&["fetch", "--quiet"]);
    assert!(push().status.success(), "{}", stderr_of(&push()));
}

#[test]
fn a_push_of_nothing_is_handed_on_as_nothing() {
    let world = world_with_guards(&FILES);
    let hook = world.clone.path().join(".git/hooks/pre-push");
    let mut text = std::fs::read_to_string(&hook).unwrap();
    text.push_str("wc -c | tr -d ' ' >\"$HOME/bytes\"\n");
    std::fs::write(&hook, text).unwrap();
    let settings = [("PATH", path(&world))];
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    let bytes = || std::fs::read_to_string(world.folder("home").join("bytes")).unwrap();
    let push = || git(&world, world.clone.path(), &settings, &["push", "-q"]);
    assert!(push().status.success(), "{}", stderr_of(&push()));
    assert_eq!(bytes(), "0\n");
    world.clone.commit(&[("c.txt", "cc\n")]);
    assert!(push().status.success(), "{}", stderr_of(&push()));
    let line = format!("refs/heads/main {0} refs/heads/main {0}\n", "0".repeat(40));
    assert_eq!(bytes(), format!("{}\n", line.len()));
}

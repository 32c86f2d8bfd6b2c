//! A stale index must not undo others' work.

use super::{git, install, stderr_of};
use crate::hook::session;
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

/// A clone whose index is older than the branch: others have changed a.txt twice, and the branch was moved below the index.
fn world() -> World {
    let world = World::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    install(&world, "pre-commit", "");
    for content in ["two\n", "three\n"] {
        world.others_push("main", &[("a.txt", content)]);
    }
    world.clone.git(&["fetch", "--quiet"]);
    // A server runs.
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    ada.starts();
    world.clone.git(&["reset", "--quiet", "--soft", "origin/main"]);
    world
}

// rule: hooks#stale-index
#[test]
fn a_commit_that_puts_a_file_back_is_refused_with_the_commit_that_it_would_undo() {
    let world = world();
    let folder = world.clone.path();
    std::fs::write(folder.join("b.txt"), "bb\n").unwrap();
    world.clone.git(&["add", "b.txt"]);
    let refused = git(&world, folder, &[], &["commit", "-qm", "Change b"]);
    let text = stderr_of(&refused);
    assert!(!refused.status.success(), "{text}");
    let newest = world.clone.git(&["log", "-1", "--format=%h (%an: %s)", "origin/main"]);
    assert!(text.contains(&format!("a.txt: as it was before {newest}")), "{text}");
    assert!(!text.contains("b.txt:"), "{text}");
    // The command that the refusal names fixes it.
    let (_, mend) = text.split_once("as it is on the branch: ").unwrap();
    let mend = mend.lines().next().unwrap().replace("FILE", "a.txt");
    assert!(world.in_shell(folder, &mend).status.success(), "{mend}");
    let done = git(&world, folder, &[], &["commit", "-qm", "Change b"]);
    assert!(done.status.success(), "{}", stderr_of(&done));
    assert_eq!(world.clone.git(&["show", "HEAD:a.txt"]), "three");
}

#[test]
fn a_revert_by_git_a_person_or_the_files_holder_passes() {
    let world = world();
    let folder = world.clone.path();
    let by_person = git(
        &world,
        folder,
        &[("COORD_BYPASS", "1")],
        &["commit", "-qm", "Back to one"],
    );
    assert!(by_person.status.success(), "{}", stderr_of(&by_person));
    world.clone.git(&["reset", "--quiet", "--hard", "origin/main"]);
    let by_git = git(&world, folder, &[], &["revert", "--no-edit", "HEAD"]);
    assert!(by_git.status.success(), "{}", stderr_of(&by_git));
    world.clone.git(&["reset", "--quiet", "--hard", "origin/main"]);
    let by_hand = git(&world, folder, &[], &["revert", "--no-commit", "HEAD"]);
    assert!(by_hand.status.success(), "{}", stderr_of(&by_hand));
    let by_hand = git(&world, folder, &[], &["commit", "-qm", "Revert it"]);
    assert!(by_hand.status.success(), "{}", stderr_of(&by_hand));
    world.clone.git(&["reset", "--quiet", "--hard", "origin/main"]);
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    assert_eq!(ada.denial(&ada.edits("a.txt")), None);
    std::fs::write(folder.join("a.txt"), "one\n").unwrap();
    ada.has_edited("a.txt");
    let by_ada = git(
        &world,
        folder,
        &[("COORD_AGENT", "ada")],
        &["commit", "-qam", "Back to one"],
    );
    assert!(by_ada.status.success(), "{}", stderr_of(&by_ada));
}

#[test]
fn own_commits_that_are_not_pushed_may_be_undone() {
    let world = world();
    let folder = world.clone.path();
    world.clone.git(&["reset", "--quiet", "--hard", "origin/main"]);
    world.clone.commit(&[("a.txt", "four\n")]);
    std::fs::write(folder.join("a.txt"), "three\n").unwrap();
    let done = git(&world, folder, &[], &["commit", "-qam", "Not four after all"]);
    assert!(done.status.success(), "{}", stderr_of(&done));
}

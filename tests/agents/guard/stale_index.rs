//! A stale index must not undo others' work.

use super::{fails, install, passes, write};
use crate::hook::claude;
use crate::processes::assert_success;
use crate::texts::{assert_has, assert_lacks};
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
    claude(&world, "ada").starts();
    world.clone.git(&["reset", "--quiet", "--soft", "origin/main"]);
    world
}

fn reset_to_origin(world: &World) {
    world.clone.git(&["reset", "--quiet", "--hard", "origin/main"]);
}

// rule: hooks#stale-index
#[test]
fn a_commit_that_puts_a_file_back_is_refused_with_the_commit_that_it_would_undo() {
    let world = world();
    let commit = ["commit", "-qm", "Change b"];
    write(&world, "b.txt", "bb\n");
    world.clone.git(&["add", "b.txt"]);
    let text = fails(&world, &[], &commit);
    let newest = world.clone.git(&["log", "-1", "--format=%h (%an: %s)", "origin/main"]);
    assert_has(&text, &[&format!("a.txt: as it was before {newest}")]);
    assert_lacks(&text, &["b.txt:"]);
    // The command that the refusal names fixes it.
    let (_, fix) = text.split_once("as it is on the branch: ").unwrap();
    let fix = fix.lines().next().unwrap().replace("FILE", "a.txt");
    assert_success(&world.in_shell(world.clone.path(), &fix));
    passes(&world, &[], &commit);
    assert_eq!(world.clone.git(&["show", "HEAD:a.txt"]), "three");
}

#[test]
fn a_revert_by_git_a_person_or_the_files_holder_passes() {
    let world = world();
    passes(&world, &[("COORD_BYPASS", "1")], &["commit", "-qm", "Back to one"]);
    reset_to_origin(&world);
    passes(&world, &[], &["revert", "--no-edit", "HEAD"]);
    reset_to_origin(&world);
    passes(&world, &[], &["revert", "--no-commit", "HEAD"]);
    passes(&world, &[], &["commit", "-qm", "Revert it"]);
    reset_to_origin(&world);
    let ada = claude(&world, "ada");
    ada.may_edit("a.txt");
    write(&world, "a.txt", "one\n");
    ada.has_edited("a.txt");
    passes(&world, &[("COORD_AGENT", "ada")], &["commit", "-qam", "Back to one"]);
}

#[test]
fn own_commits_that_are_not_pushed_may_be_undone() {
    let world = world();
    reset_to_origin(&world);
    world.clone.commit(&[("a.txt", "four\n")]);
    write(&world, "a.txt", "three\n");
    passes(&world, &[], &["commit", "-qam", "Not four after all"]);
}

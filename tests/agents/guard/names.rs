//! Names that no lock can have, and servers that cannot be reached.

use std::cell::Cell;
use std::fs;

use super::{bob_edits, fails, git, install, passes, stderr_of, write};
use crate::hook::{claude, held_files};
use crate::texts::assert_has;
use coord_test_worlds::world::World;

const ODD: [&str; 5] = [
    "Icon\r",
    "back\\slash.md",
    "tab\tx.md",
    "zero\u{200b}width.md",
    "blank.md ",
];

#[test]
fn a_name_that_cannot_be_locked_is_left_out_and_the_rest_is_checked() {
    let world = World::with(&[("a.txt", "a")]);
    for hook in ["pre-commit", "pre-push"] {
        install(&world, hook, "");
    }
    bob_edits(&world, "a.txt");
    for name in ODD {
        write(&world, name, "x");
        world.clone.git(&["add", "--all"]);
        let errors = passes(&world, &[], &["commit", "-qm", "Add it"]);
        assert_has(&errors, &["not checked", &format!("{name:?}")]);
        write(&world, name, "y");
        write(&world, "a.txt", name);
        let commit = ["commit", "-qam", "Change both", "--no-verify"];
        let errors = fails(&world, &[], &commit[..3]);
        assert!(errors.contains("a.txt: WRITING"), "{name:?}: {errors}");
        passes(&world, &[], &commit);
        let errors = fails(&world, &[], &["push", "-q"]);
        assert!(errors.contains("a.txt: WRITING"), "{name:?}: {errors}");
    }
}

#[test]
fn an_edit_of_a_name_that_cannot_be_locked_is_allowed_with_a_note() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = claude(&world, "ada");
    for name in ODD {
        let answer = ada.edits(name);
        ada.assert_allowed(&answer, name);
        let output = format!("{name:?}: {} {}", answer.body, answer.aside);
        assert_has(&output, &["without a lock"]);
    }
    assert_eq!(held_files(&world), [""; 0]);
}

#[test]
fn a_server_that_cannot_be_reached_is_no_answer() {
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.clone.path().join(".git/coord");
    fs::create_dir_all(&folder).unwrap();
    let count = Cell::new(0);
    let commit = |options: &str| {
        install(&world, "pre-commit", options);
        count.set(count.get() + 1);
        write(&world, "a.txt", &count.get().to_string());
        let output = git(&world, world.clone.path(), &[], &["commit", "-qam", "Change a"]);
        (output.status.success(), stderr_of(&output))
    };
    // Announced by a container with a separate address, by one with this machine's address, and by another user.
    for announced in [
        "http://203.0.113.7:3000 (process 7)",
        "http://127.0.0.1:1 (process 4194304)",
        "",
    ] {
        fs::write(folder.join("listening"), announced).unwrap();
        let (passed, errors) = commit("");
        assert!(
            passed && errors.contains("allowed without a check"),
            "{announced}: {errors}"
        );
        let (passed, errors) = commit("--on-error deny");
        assert!(!passed, "{announced}: {errors}");
    }
    fs::remove_file(folder.join("listening")).unwrap();
    assert_eq!(commit("--on-error deny"), (true, String::new()));
}

//! Names that no lock can have, and servers that cannot be reached.

use super::{bob_edits, git, install, stderr_of};
use crate::hook::{held_files, session};
use coord_test_worlds::hook_forms::CLAUDE_CODE;
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
    let folder = world.clone.path();
    bob_edits(&world, "a.txt");
    for name in ODD {
        std::fs::write(folder.join(name), "x").unwrap();
        world.clone.git(&["add", "--all"]);
        let alone = git(&world, folder, &[], &["commit", "-qm", "Add it"]);
        assert!(alone.status.success(), "{name:?}: {}", stderr_of(&alone));
        assert!(
            stderr_of(&alone).contains("not checked") && stderr_of(&alone).contains(&format!("{name:?}")),
            "{}",
            stderr_of(&alone)
        );
        std::fs::write(folder.join(name), "y").unwrap();
        std::fs::write(folder.join("a.txt"), name).unwrap();
        let both = git(&world, folder, &[], &["commit", "-qam", "Change both"]);
        assert!(
            stderr_of(&both).contains("a.txt: WRITING"),
            "{name:?}: {}",
            stderr_of(&both)
        );
        git(&world, folder, &[], &["commit", "-qam", "Change both", "--no-verify"]);
        let pushed = git(&world, folder, &[], &["push", "-q"]);
        assert!(
            stderr_of(&pushed).contains("a.txt: WRITING"),
            "{name:?}: {}",
            stderr_of(&pushed)
        );
    }
}

#[test]
fn an_edit_of_a_name_that_cannot_be_locked_is_allowed_with_a_note() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    for name in ODD {
        let answer = ada.edits(name);
        assert_eq!(ada.denial(&answer), None, "{name:?}");
        let output = format!("{} {}", answer.body, answer.aside);
        assert!(output.contains("without a lock"), "{name:?}: {output}");
    }
    assert_eq!(held_files(&world), [""; 0]);
}

#[test]
fn a_server_that_cannot_be_reached_is_no_answer() {
    let world = World::with(&[("a.txt", "a")]);
    let folder = world.clone.path();
    std::fs::create_dir_all(folder.join(".git/coord")).unwrap();
    let count = std::cell::Cell::new(0);
    let commit = |options: &str| {
        install(&world, "pre-commit", options);
        count.set(count.get() + 1);
        std::fs::write(folder.join("a.txt"), count.get().to_string()).unwrap();
        git(&world, folder, &[], &["commit", "-qam", "Change a"])
    };
    // Announced by a container with a separate address, by one with this machine's address, and by another user.
    for announced in [
        "http://203.0.113.7:3000 (process 7)",
        "http://127.0.0.1:1 (process 4194304)",
        "",
    ] {
        std::fs::write(folder.join(".git/coord/listening"), announced).unwrap();
        let warned = commit("");
        assert!(warned.status.success(), "{}", stderr_of(&warned));
        assert!(
            stderr_of(&warned).contains("let pass, unchecked"),
            "{announced}: {}",
            stderr_of(&warned)
        );
        let refused = commit("--on-error deny");
        assert!(!refused.status.success(), "{announced}: {}", stderr_of(&refused));
    }
    std::fs::remove_file(folder.join(".git/coord/listening")).unwrap();
    let silent = commit("--on-error deny");
    assert!(
        silent.status.success() && stderr_of(&silent).is_empty(),
        "{}",
        stderr_of(&silent)
    );
}

//! Writes to content that the session has not seen.

use serde_json::{Value, json};

use super::{Session, session};
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CODEX, CURSOR};
use coord_test_worlds::world::World;

fn write(world: &World, file: &str, content: &str) {
    std::fs::write(world.clone.path().join(file), content).unwrap();
}

/// The refusal, which is the whole reason.
fn refused(ada: &Session<'_>, file: &str) -> Option<Value> {
    let reason = ada.denial(&ada.edits(file))?;
    let refusal: Value = serde_json::from_str(&reason).unwrap_or_else(|_| panic!("{reason}"));
    assert_eq!(refusal.as_object().unwrap().len(), 5, "{reason}");
    assert_eq!(refusal["error_type"], "STALE_FILE");
    assert_eq!(refusal["resolution"], "RE_READ_REQUIRED");
    Some(refusal)
}

// rule: hooks#stale-file
#[test]
fn a_write_to_what_was_changed_since_it_was_read_is_refused_until_it_is_read_again() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "")]);
        let ada = session(&world, form, None);
        // Nothing was selected, and no server runs: a read still counts.
        for file in ["a.txt", "b.txt"] {
            assert_eq!(ada.has_read(file).status, 0, "{}", form.agent);
            assert_eq!(refused(&ada, file), None, "{}", form.agent);
            ada.has_edited(file);
            write(&world, file, "theirs");
            let refusal = refused(&ada, file).unwrap_or_else(|| panic!("{} {file}", form.agent));
            assert_eq!(refusal["file_path"], file);
            // An empty file has a hash.
            assert!(
                refusal["expected_hash"].as_str().unwrap().starts_with("sha256:"),
                "{refusal}"
            );
            ada.has_read(file);
            assert_eq!(refused(&ada, file), None, "{}", form.agent);
        }
    }
}

#[test]
fn a_file_that_vanished_is_refused_as_deleted_and_an_attempt_to_read_it_heals() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a")]);
        let ada = session(&world, form, None);
        ada.has_read("a.txt");
        std::fs::remove_file(world.clone.path().join("a.txt")).unwrap();
        assert_eq!(
            refused(&ada, "a.txt").unwrap()["actual_hash"],
            "DELETED",
            "{}",
            form.agent
        );
        assert_eq!(ada.denial(&ada.reads("a.txt")), None, "{}", form.agent);
        assert_eq!(refused(&ada, "a.txt"), None, "{}", form.agent);
    }
}

#[test]
fn a_sessions_writes_by_tool_or_shell_are_its_own() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let ada = session(&world, form, None);
        ada.has_read("a.txt");
        assert_eq!(refused(&ada, "a.txt"), None, "{}", form.agent);
        write(&world, "a.txt", "b");
        ada.has_edited("a.txt");
        assert_eq!(refused(&ada, "a.txt"), None, "{}", form.agent);
        ada.has_edited("a.txt");
        // A program that no list has.
        let command = "python3 -c 'open(\"a.txt\", \"w\").write(\"c\")'";
        assert_eq!(ada.denial(&ada.runs(command)), None);
        write(&world, "a.txt", "longer");
        ada.has_run(command);
        assert_eq!(refused(&ada, "a.txt"), None, "{}", form.agent);
    }
}

#[test]
fn the_path_counts_and_not_the_folder_nor_the_way_it_is_written() {
    let world = World::with(&[("src/db/a.txt", "a")]);
    let root = world.clone.path();
    std::fs::create_dir(root.join("sub")).unwrap();
    let sub = root.join("sub");
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    let below = Session {
        folder: &sub,
        ..session(&world, &CLAUDE_CODE, Some("ada"))
    };
    below.has_read("../src/db/a.txt");
    assert_eq!(
        refused(&ada, "src/db/a.txt"),
        None,
        "it is there, whatever the folder of the process is"
    );
    ada.has_edited("src/db/a.txt");
    write(&world, "src/db/a.txt", "theirs");
    for (place, file) in [(&ada, "src/./db/../db/a.txt"), (&below, "../src/db/a.txt")] {
        assert_eq!(refused(place, file).unwrap()["file_path"], "src/db/a.txt", "{file}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("src/db", root.join("link")).unwrap();
        assert_eq!(refused(&ada, "link/a.txt").unwrap()["file_path"], "src/db/a.txt");
    }
    // Where names that differ in case alone are one file, and it is gone so that the file system cannot tell.
    world.clone.git(&["config", "core.ignorecase", "true"]);
    std::fs::remove_file(root.join("src/db/a.txt")).unwrap();
    let refusal = refused(&ada, "SRC/DB/A.TXT").unwrap();
    assert_eq!(
        (&refusal["file_path"], &refusal["actual_hash"]),
        (&json!("src/db/a.txt"), &json!("DELETED"))
    );
}

#[test]
fn each_worktree_has_its_own_remembered_content() {
    let world = World::with(&[("a.txt", "a")]);
    let worktree = world.worktree("two");
    let ada = session(&world, &CLAUDE_CODE, Some("ada"));
    let there = Session {
        folder: worktree.path(),
        ..session(&world, &CLAUDE_CODE, Some("ada"))
    };
    ada.has_read("a.txt");
    there.has_read("a.txt");
    std::fs::write(worktree.path().join("a.txt"), "theirs").unwrap();
    assert_eq!(refused(&ada, "a.txt"), None);
    assert!(refused(&there, "a.txt").is_some());
}

#[test]
fn a_link_out_of_the_repository_is_no_file_of_it() {
    let world = World::with(&[("a.txt", "a")]);
    let outside = world.folder("outside").join("x.txt");
    std::fs::write(&outside, "x").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, world.clone.path().join("link")).unwrap();
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.has_read("link");
    std::fs::write(&outside, "y").unwrap();
    assert_eq!(refused(&ada, "link"), None);
    assert_eq!(world.server(), None, "nothing is claimed");
}

#[test]
fn reads_in_an_agents_shell_count() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = session(&world, &CODEX, None);
    for command in ["cat a.txt", "sed -n '1,200p' a.txt", "head -n 3 a.txt | wc -l"] {
        assert_eq!(ada.denial(&ada.runs(command)), None);
        ada.has_run(command);
        write(&world, "a.txt", command);
        assert!(refused(&ada, "a.txt").is_some(), "{command}");
    }
    // A write by name in the shell is refused as any other.
    let denied = ada.denial(&ada.runs("sed -i s/a/b/ a.txt")).unwrap();
    assert!(denied.contains("STALE_FILE"), "{denied}");
}

#[test]
fn a_file_that_was_written_meanwhile_keeps_the_hash_of_the_sessions_own_content() {
    let world = World::with(&[("a.txt", "a")]);
    // The form of Cursor's edit has the whole content, which is `b`.
    let ada = session(&world, &CURSOR, None);
    assert_eq!(refused(&ada, "a.txt"), None);
    write(&world, "a.txt", "theirs");
    ada.has_edited("a.txt");
    let refusal = refused(&ada, "a.txt").unwrap();
    assert_eq!(
        refusal["expected_hash"],
        "sha256:3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"
    );
}

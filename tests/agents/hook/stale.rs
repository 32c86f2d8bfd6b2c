//! Writes to content that the session has not seen.

use serde_json::Value;

use super::recording::OF_B;
use super::{Session, claude, session, write};
use crate::texts::assert_has;
use coord_test_worlds::hook_forms::{ALL, CLAUDE_CODE, CODEX, CURSOR};
use coord_test_worlds::world::World;

impl Session<'_> {
    /// Returns the refusal of an edit of `file`, which is the whole reason.
    #[track_caller]
    fn assert_stale(&self, file: &str) -> Value {
        let reason = self.may_not_edit(file);
        let refusal: Value = serde_json::from_str(&reason).unwrap_or_else(|_| panic!("{reason}"));
        assert_eq!(refusal.as_object().unwrap().len(), 5, "{reason}");
        assert_eq!(refusal["error_type"], "STALE_FILE");
        assert_eq!(refusal["resolution"], "RE_READ_REQUIRED");
        refusal
    }
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
            ada.may_edit(file);
            ada.has_edited(file);
            write(&world, file, "theirs");
            let refusal = ada.assert_stale(file);
            assert_eq!(refusal["file_path"], file);
            // An empty file has a hash.
            let expected = refusal["expected_hash"].as_str().unwrap();
            assert!(expected.starts_with("sha256:"), "{refusal}");
            ada.has_read(file);
            ada.may_edit(file);
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
        assert_eq!(ada.assert_stale("a.txt")["actual_hash"], "DELETED", "{}", form.agent);
        ada.may_read("a.txt");
        ada.may_edit("a.txt");
    }
}

#[test]
fn a_sessions_writes_by_tool_or_shell_are_its_own() {
    for form in ALL {
        let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
        let ada = session(&world, form, None);
        ada.has_read("a.txt");
        ada.may_edit("a.txt");
        write(&world, "a.txt", "b");
        ada.has_edited("a.txt");
        ada.may_edit("a.txt");
        ada.has_edited("a.txt");
        // A program that no list has.
        let command = "python3 -c 'open(\"a.txt\", \"w\").write(\"c\")'";
        ada.may_run(command);
        write(&world, "a.txt", "longer");
        ada.has_run(command);
        ada.may_edit("a.txt");
    }
}

#[test]
fn the_path_counts_and_not_the_folder_nor_the_way_it_is_written() {
    let world = World::with(&[("src/db/a.txt", "a")]);
    let root = world.clone.path();
    let sub = root.join("sub");
    std::fs::create_dir(&sub).unwrap();
    let ada = claude(&world, "ada");
    let below = ada.at(&sub);
    below.has_read("../src/db/a.txt");
    // It is there, whatever the folder of the process is.
    ada.may_edit("src/db/a.txt");
    ada.has_edited("src/db/a.txt");
    write(&world, "src/db/a.txt", "theirs");
    for (place, file) in [(&ada, "src/./db/../db/a.txt"), (&below, "../src/db/a.txt")] {
        assert_eq!(place.assert_stale(file)["file_path"], "src/db/a.txt", "{file}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("src/db", root.join("link")).unwrap();
        assert_eq!(ada.assert_stale("link/a.txt")["file_path"], "src/db/a.txt");
    }
    // Where names that differ in case alone are one file, and it is gone so that the file system cannot tell.
    world.clone.git(&["config", "core.ignorecase", "true"]);
    std::fs::remove_file(root.join("src/db/a.txt")).unwrap();
    let refusal = ada.assert_stale("SRC/DB/A.TXT");
    assert_eq!(refusal["file_path"], "src/db/a.txt");
    assert_eq!(refusal["actual_hash"], "DELETED");
}

#[test]
fn each_worktree_has_its_own_remembered_content() {
    let world = World::with(&[("a.txt", "a")]);
    let worktree = world.worktree("two");
    let ada = claude(&world, "ada");
    let there = ada.at(worktree.path());
    ada.has_read("a.txt");
    there.has_read("a.txt");
    std::fs::write(worktree.path().join("a.txt"), "theirs").unwrap();
    ada.may_edit("a.txt");
    there.assert_stale("a.txt");
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
    ada.may_edit("link");
    assert_eq!(world.server(), None, "nothing is claimed");
}

#[test]
fn reads_in_an_agents_shell_count() {
    let world = World::with(&[("a.txt", "a")]);
    let ada = session(&world, &CODEX, None);
    for command in ["cat a.txt", "sed -n '1,200p' a.txt", "head -n 3 a.txt | wc -l"] {
        ada.may_run(command);
        ada.has_run(command);
        write(&world, "a.txt", command);
        ada.assert_stale("a.txt");
    }
    // A write by name in the shell is refused as any other.
    assert_has(&ada.may_not_run("sed -i s/a/b/ a.txt"), &["STALE_FILE"]);
}

#[test]
fn a_file_that_was_written_meanwhile_keeps_the_hash_of_the_sessions_own_content() {
    let world = World::with(&[("a.txt", "a")]);
    // The form of Cursor's edit has the whole content, which is `b`.
    let ada = session(&world, &CURSOR, None);
    ada.may_edit("a.txt");
    write(&world, "a.txt", "theirs");
    ada.has_edited("a.txt");
    assert_eq!(ada.assert_stale("a.txt")["expected_hash"], OF_B);
}

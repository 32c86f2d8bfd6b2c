//! Commands that a shell really runs: what they have changed is found, whatever program did it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::recording::mutations;
use super::{Session, claude, session, sha256};
use crate::processes::assert_success;
use crate::texts::assert_has;
use coord_test_worlds::fake_server::Fake;
use coord_test_worlds::hook_forms::CLAUDE_CODE;
use coord_test_worlds::world::World;

/// Each makes `b` and a newline of `src/a.txt`, which has `a` and a newline.
const WRITES: [&str; 22] = [
    "echo b > src/a.txt",
    "echo b >| src/a.txt",
    "cd src; echo b > a.txt",
    "(cd src && echo b > a.txt)",
    "sh -c 'echo b > src/a.txt'",
    "eval 'echo b > src/a.txt'",
    "sed -i s/a/b/ src/a.txt",
    "sed s/a/b/ src/a.txt > t && mv t src/a.txt",
    "perl -pi -e s/a/b/ src/a.txt",
    "cat > src/a.txt <<'EOF'\nb\nEOF",
    "cat <<'EOF' | sh\necho b > src/a.txt\nEOF",
    "echo b | tee src/a.txt > /dev/null",
    "echo b | dd of=src/a.txt 2> /dev/null",
    "echo b > t && cp t src/a.txt; rm t",
    "echo b > t && install -m 644 t src/a.txt; rm t",
    "F=src/a.txt; echo b > \"$F\"",
    "find src -name 'a.*' -exec sed -i s/a/b/ {} +",
    "ls src/a.txt | xargs sed -i s/a/b/",
    "git show HEAD~1:src/a.txt > src/a.txt",
    "git checkout --quiet HEAD~1 -- src/a.txt",
    "printf '%s\\n' '--- a/src/a.txt' '+++ b/src/a.txt' '@@ -1 +1 @@' -a +b | git apply",
    // The same size, and the time put back.
    "touch -r src/a.txt t; echo b > src/a.txt; touch -r t src/a.txt; rm t",
];

/// A clone whose commit before has `b`.
fn world() -> World {
    let world = World::with(&[("src/a.txt", "b\n"), ("docs/c.txt", "c\n")]);
    world.clone.commit(&[("src/a.txt", "a\n")]);
    world.clone.git(&["push", "--quiet"]);
    world
}

fn shell(folder: &Path, command: &str) {
    let mut run = Command::new("sh");
    let output = run.args(["-c", command]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
}

/// The mutations that are recorded after a session ran `command` in a new world.
fn recorded(command: &str) -> Vec<Value> {
    let world = world();
    let fake = Fake::with_intent(&world, true);
    let ada = session(&world, &CLAUDE_CODE, None);
    ada.may_run(command);
    shell(ada.folder, command);
    fake.paths();
    assert_eq!(ada.has_run(command).status, 0, "{command}");
    fake.recorded()
}

#[test]
fn a_write_is_recorded_once_whatever_program_made_it() {
    let hash = format!("sha256:{}", sha256("b\n"));
    for command in WRITES {
        let entries = recorded(command);
        let mut found = mutations(&entries);
        found.retain(|(file, _)| *file != "t");
        assert_eq!(found, [("src/a.txt", hash.as_str())], "{command}");
    }
}

#[test]
fn a_removed_moved_or_linked_file_is_found_where_it_is() {
    let deleted = ("src/a.txt", "DELETED".to_owned());
    let hash = |content: &str| format!("sha256:{}", sha256(content));
    let link = "ln -s \"$PWD/docs\" src/d && echo x > src/d/c.txt";
    for (command, files) in [
        ("rm src/a.txt", vec![deleted.clone()]),
        ("find src -type f -delete", vec![deleted.clone()]),
        ("git rm --quiet src/a.txt", vec![deleted.clone()]),
        ("mv src src2", vec![deleted, ("src2/a.txt", hash("a\n"))]),
        ("mkdir new && echo x > new/n.txt", vec![("new/n.txt", hash("x\n"))]),
        (link, vec![("docs/c.txt", hash("x\n"))]),
    ] {
        let entries = recorded(command);
        let found = mutations(&entries);
        for (file, hash) in files {
            let mut of_file = found.clone();
            of_file.retain(|(name, _)| *name == file);
            assert_eq!(of_file, [(file, hash.as_str())], "{command}: {found:?}");
        }
    }
}

#[test]
fn no_link_case_worktree_or_folder_leads_out_of_the_scope() {
    let world = World::with(&[
        ("src/a.txt", "a"),
        ("docs/c.txt", "c"),
        ("docs/d.txt", "d"),
        (".orchestration/intent_map.md", "x"),
    ]);
    let elsewhere = world.folder("elsewhere");
    fs::write(elsewhere.join("x.txt"), "x").unwrap();
    let root = world.clone.path();
    let new = ["intent", "new", "REQ-1", "--name", "n", "--scope", "src/**"];
    assert_success(&world.run(&new));
    assert_success(&world.run(&["intent", "select", "REQ-1", "--agent", "one"]));
    let ada = claude(&world, "one");
    #[cfg(unix)]
    for (target, link) in [
        ("../docs/c.txt", "src/link.txt"),
        ("../docs", "src/folder"),
        ("../.orchestration", "src/rules"),
        ("../src", "docs/back"),
        (elsewhere.to_str().unwrap(), "src/out"),
    ] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    let worktree = world.worktree("two");
    let source = root.join("src");
    let (below, there) = (ada.at(&source), ada.at(worktree.path()));
    let refused = |session: &Session<'_>, file: &str, real: &str| {
        let violation = format!("Scope Violation: REQ-1 is not authorized to edit '{real}'.");
        assert_has(&session.may_not_edit(file), &[&violation]);
        assert_has(&session.may_not_run(&format!("echo x > '{file}'")), &[&violation]);
    };
    refused(&ada, "src/link.txt", "docs/c.txt");
    refused(&ada, "src/folder/d.txt", "docs/d.txt");
    refused(&ada, "src/rules/intent_map.md", ".orchestration/intent_map.md");
    refused(&ada, "src/../docs/c.txt", "docs/c.txt");
    refused(&below, "../docs/c.txt", "docs/c.txt");
    refused(&there, "docs/c.txt", "docs/c.txt");
    refused(&ada, worktree.path().join("docs/c.txt").to_str().unwrap(), "docs/c.txt");
    for (session, file) in [
        (&ada, "docs/back/a.txt"),
        (&below, "a.txt"),
        (&below, "out/x.txt"),
        (&there, "src/a.txt"),
    ] {
        session.may_edit(file);
    }
    world.clone.git(&["config", "core.ignorecase", "true"]);
    fs::remove_file(root.join("docs/d.txt")).unwrap();
    refused(&ada, "DOCS/D.TXT", "docs/d.txt");
}

//! Commands that a shell really runs: what they have changed is found, whatever program did it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Session, session, sha256};
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

/// File and hash of the mutations that are recorded after the session ran `command`.
fn recorded(fake: &Fake, ada: &Session<'_>, command: &str) -> Vec<(String, String)> {
    assert_eq!(ada.denial(&ada.runs(command)), None, "{command}");
    shell(ada.folder, command);
    fake.paths();
    assert_eq!(ada.has_run(command).status, 0, "{command}");
    let plain = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    let entries = fake.recorded();
    let mutations = entries.iter().filter(|entry| entry["kind"] == "mutation");
    let mut found: Vec<(String, String)> = mutations
        .map(|entry| (plain(entry, "file_path"), plain(entry, "hash")))
        .filter(|(file, _)| file != "t")
        .collect();
    found.sort();
    found
}

#[test]
fn a_write_is_recorded_once_whatever_program_made_it() {
    let hash = format!("sha256:{}", sha256("b\n"));
    for command in WRITES {
        let world = world();
        let fake = Fake::with_intent(&world, true);
        let ada = session(&world, &CLAUDE_CODE, None);
        let found = recorded(&fake, &ada, command);
        assert_eq!(found, [("src/a.txt".to_owned(), hash.clone())], "{command}");
    }
}

#[test]
fn a_removed_moved_or_linked_file_is_found_where_it_is() {
    let deleted = "DELETED".to_owned();
    let (a, x) = (format!("sha256:{}", sha256("a\n")), format!("sha256:{}", sha256("x\n")));
    for (command, files) in [
        ("rm src/a.txt", vec![("src/a.txt", &deleted)]),
        ("find src -type f -delete", vec![("src/a.txt", &deleted)]),
        ("git rm --quiet src/a.txt", vec![("src/a.txt", &deleted)]),
        ("mv src src2", vec![("src/a.txt", &deleted), ("src2/a.txt", &a)]),
        ("mkdir new && echo x > new/n.txt", vec![("new/n.txt", &x)]),
        (
            "ln -s \"$PWD/docs\" src/d && echo x > src/d/c.txt",
            vec![("docs/c.txt", &x)],
        ),
    ] {
        let world = world();
        let fake = Fake::with_intent(&world, true);
        let ada = session(&world, &CLAUDE_CODE, None);
        let found = recorded(&fake, &ada, command);
        for (file, hash) in files {
            let of_file: Vec<&String> = found
                .iter()
                .filter(|(name, _)| name == file)
                .map(|(_, hash)| hash)
                .collect();
            assert_eq!(of_file, [hash], "{command}: {found:?}");
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
    assert!(world.run(&new).status.success());
    assert!(
        world
            .run(&["intent", "select", "REQ-1", "--agent", "one"])
            .status
            .success()
    );
    let ada = session(&world, &CLAUDE_CODE, Some("one"));
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
    let at = |folder| Session {
        folder,
        ..session(&world, &CLAUDE_CODE, Some("one"))
    };
    let (below, there) = (root.join("src"), at(worktree.path()));
    let below = at(&below);
    let refused = |session: &Session<'_>, file: &str, real: &str| {
        for answer in [session.edits(file), session.runs(&format!("echo x > '{file}'"))] {
            let denied = session.denial(&answer).unwrap_or_else(|| panic!("{file}: {answer:?}"));
            assert!(
                denied.contains(&format!("Scope Violation: REQ-1 is not authorized to edit '{real}'.")),
                "{file}: {denied}"
            );
        }
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
        assert_eq!(session.denial(&session.edits(file)), None, "{file}");
    }
    world.clone.git(&["config", "core.ignorecase", "true"]);
    fs::remove_file(root.join("docs/d.txt")).unwrap();
    refused(&ada, "DOCS/D.TXT", "docs/d.txt");
}

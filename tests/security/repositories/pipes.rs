//! Pipes and links where Coord expects files: of git, of Coord's own folder, and those that a person names.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use coord_test_support::git::Repo;
use serde_json::json;

use super::sandbox::{ENDLESS, Sandbox};

fn clone(sandbox: &Sandbox) -> PathBuf {
    let path = sandbox.path("clone");
    let repo = Repo::init(&path, &[]);
    repo.commit(&[("a.txt", "a\n"), ("src/b.txt", "b\n")]);
    path
}

fn make_pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Returns the output of the hook before an edit of `file`.
fn edit(sandbox: &Sandbox, folder: &Path, file: &str) -> String {
    let call = json!({
        "session_id": "s", "cwd": folder, "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": { "file_path": folder.join(file), "old_string": "a", "new_string": "b" },
    });
    let words = ["hook", "claude-code", "PreToolUse"].map(str::to_owned).to_vec();
    sandbox.coord(folder, &(words, call.to_string()))
}

// rule: commands#archives
#[test]
fn no_pipe_in_place_of_a_file_of_git_makes_a_command_wait() {
    for name in [
        "HEAD",
        "config.worktree",
        "index",
        "objects/pack/x.idx",
        "packed-refs",
        "refs/heads/main",
    ] {
        let sandbox = Sandbox::new();
        let folder = clone(&sandbox);
        make_pipe(&folder.join(".git").join(name));
        let status = sandbox.run(&folder, &["status"]);
        let sentence = format!("{name} cannot be read: it is a named pipe");
        assert!(status.contains(&sentence), "{name}: {status}");
        let edited = edit(&sandbox, &folder, "a.txt");
        assert!(
            edited.contains(&sentence) && edited.contains("deny"),
            "{name}: {edited}"
        );
    }
}

#[test]
fn pipes_that_git_reads_from_a_working_copy_make_no_hook_wait() {
    let sandbox = Sandbox::new();
    let folder = clone(&sandbox);
    make_pipe(&folder.join("src/.gitignore"));
    make_pipe(&folder.join(".git/refs/remotes/origin/main"));
    let claimed = sandbox.run(&folder, &["claim", "src/b.txt", "--message", "x", "--agent", "one"]);
    assert!(claimed.contains("PROCEED"), "{claimed}");
    let edited = edit(&sandbox, &folder, "src/b.txt");
    assert!(edited.contains("deny") && edited.contains("one"), "{edited}");
}

#[test]
fn a_folder_of_coord_that_is_a_link_is_named_and_not_entered() {
    let sandbox = Sandbox::new();
    let folder = clone(&sandbox);
    symlink(sandbox.path("outside"), folder.join(".git/coord")).unwrap();
    let before = sandbox.outside();
    for words in [
        &["claim", "a.txt", "--message", "x"][..],
        &["status"],
        &["serve", "--port", "0"],
    ] {
        let printed = sandbox.run(&folder, words);
        let sentence = ".git/coord is a symbolic link, which Coord does not follow here";
        assert!(
            words == ["status"] || printed.contains(sentence),
            "{words:?}: {printed}"
        );
        assert!(!printed.contains(ENDLESS), "{words:?}: {printed}");
        assert_eq!(sandbox.outside(), before, "{words:?}");
    }
}

#[test]
fn a_store_that_is_a_link_or_a_pipe_is_named_and_not_opened() {
    for is_pipe in [false, true] {
        let sandbox = Sandbox::new();
        let folder = clone(&sandbox);
        let store = folder.join(".git/coord/store.redb");
        match is_pipe {
            true => make_pipe(&store),
            false => {
                fs::create_dir(folder.join(".git/coord")).unwrap();
                symlink(sandbox.path("outside/store"), &store).unwrap();
            }
        }
        let before = sandbox.outside();
        let printed = sandbox.run(&folder, &["serve", "--port", "0"]);
        let sentence = match is_pipe {
            true => "store.redb is a named pipe",
            false => "store.redb is a symbolic link",
        };
        assert!(printed.contains(sentence), "{printed}");
        assert_eq!(sandbox.outside(), before);
    }
}

#[test]
fn a_pipe_that_a_person_names_is_read_from_its_writer_and_is_at_its_end_without_one() {
    let sandbox = Sandbox::new();
    let folder = clone(&sandbox);
    let pipe = sandbox.path("outside/pipe");
    make_pipe(&pipe);
    let name = pipe.to_str().unwrap();
    let address = format!("http://127.0.0.1:{}", sandbox.port);
    for words in [
        &["ledger", "verify", name, "--offline"][..],
        &["intent", "check", "--from", name, "a.txt"],
        &["task", "add", "--team", "alpha", "--from", name],
        &["policy", "check", name],
    ] {
        let printed = sandbox.run(&folder, words);
        assert!(
            !printed.is_empty() && !printed.contains(ENDLESS),
            "{words:?}: {printed}"
        );
    }
    let claim = |words: &[&str]| {
        let mut command = Command::new("timeout");
        command.args([
            "5",
            env!("CARGO_BIN_EXE_coord"),
            "claim",
            "a.txt",
            "--message",
            "x",
            "--agent",
            "one",
        ]);
        let output = command
            .args(words)
            .current_dir(&folder)
            .env_remove("COORD_TOKEN")
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let arguments = ["--url", &address, "--token-file", name];
    let printed = claim(&arguments);
    assert!(printed.contains("pipe is empty"), "{printed}");
    let writer = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::write(pipe, "of-a-pipe\n"))
    };
    claim(&arguments);
    writer.join().unwrap().unwrap();
    assert!(
        sandbox.seen().to_lowercase().contains("bearer of-a-pipe"),
        "{}",
        sandbox.seen()
    );
}

//! It asks first: on a terminal; elsewhere it shows the changes and ends.

use std::io::Write;
use std::process::{Command, Stdio};

use coord_test_support::skipping::skip;

use super::{coord, files, init, run};
use crate::commands::parts;
use crate::processes::program_like;
use crate::texts::assert_has;
use coord_test_worlds::world::World;

#[test]
fn without_a_terminal_it_shows_the_changes_and_the_line_to_run() {
    let world = World::with(&[("a.txt", "a\n")]);
    let output = run(&world, &["vscode", "--no-guard"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr), @"coord: nothing was written: there is no terminal to ask; run `coord init vscode --no-guard --yes`, or `coord init vscode --no-guard --dry-run` to see every line");
    assert_eq!(files(world.clone.path()), "=== a.txt\na\n");
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::with(&[("a.txt", "a\n")]);
    let printed = init(&world, &["vscode", "--dry-run"]);
    assert!(
        printed.ends_with("4 files would change. Nothing was written.\n"),
        "{printed}"
    );
    assert_eq!(files(world.clone.path()), "=== a.txt\na\n");
    assert!(!world.clone.path().join(".git/hooks/pre-commit").exists());
}

#[test]
fn init_prompts_and_shows_colors_on_a_terminal() {
    if Command::new("script").arg("--version").output().is_err() {
        return skip("script is not installed");
    }
    let world = World::with(&[("a.txt", "a\n")]);
    let answer = |text: &str| {
        let coord_command = coord(&world);
        let program = coord_command.get_program().display();
        let line = format!("'{program}' init vscode --no-guard --no-check");
        let mut script = program_like(&coord_command, "script");
        script.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        let mut script = script
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        script.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
        let (status, shown, _) = parts(&script.wait_with_output().unwrap());
        (status, shown)
    };
    let (status, shown) = answer("n\n");
    let question = "Write 1 file? [y/N, d: show every line]";
    assert_has(&shown, &["  .vscode/mcp.json  new      \x1b[32m+9\x1b[0m", question]);
    assert_has(&shown, &["Nothing was written."]);
    assert!(!shown.contains("\x1b[32m+{\x1b[0m"), "{shown}");
    assert_eq!((status, files(world.clone.path()).as_str()), (1, "=== a.txt\na\n"));
    // The whole difference, and the question again.
    let (status, shown) = answer("d\nn\n");
    assert_has(&shown, &["\x1b[32m+{\x1b[0m"]);
    assert_eq!(shown.matches("Write 1 file?").count(), 2, "{shown}");
    assert_eq!(status, 1);
    assert_eq!(answer("yes\n").0, 0);
    assert!(world.clone.path().join(".vscode/mcp.json").exists());
}

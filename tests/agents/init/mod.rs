//! `coord init`: the files that it writes for each agent, those that it leaves alone, and how to undo it.

mod agents;
mod asking;
mod checking;
mod existing;
mod guard;
mod malformed;
mod managers;
mod settings;
mod sharing;
mod undo;
mod user;
mod without_coord;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use coord_test_support::git::Repo;

use coord_test_worlds::world::World;

const AGENTS: [&str; 7] = [
    "claude-code",
    "codex",
    "cursor",
    "gemini",
    "copilot",
    "opencode",
    "vscode",
];

/// `coord` in the clone, with only the system's programs and those of the folder `bin` on the path.
fn coord(world: &World) -> Command {
    let mut command = world.coord(world.clone.path());
    for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "NO_COLOR"] {
        command.env_remove(variable);
    }
    command.env("PATH", format!("{}:/usr/bin:/bin", world.folder("bin").display()));
    command
}

/// Runs `coord init ARGS`.
fn run(world: &World, args: &[&str]) -> Output {
    coord(world).arg("init").args(args).output().unwrap()
}

/// Returns the output of `coord init ARGS`, which must succeed.
fn init(world: &World, args: &[&str]) -> String {
    let output = run(world, args);
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {printed}{errors}");
    printed
}

/// The sentence with which `coord init ARGS` fails.
fn error(world: &World, args: &[&str]) -> String {
    let output = run(world, args);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Every file below `folder` but git's, with its content.
fn files(folder: &Path) -> String {
    let mut found = Vec::new();
    collect(folder, &mut found);
    found.sort();
    let text = |path: &PathBuf| {
        let name = path.strip_prefix(folder).unwrap().display();
        format!("=== {name}\n{}", fs::read_to_string(path).unwrap())
    };
    found.iter().map(text).collect()
}

/// `text` with a word in place of the rules, which are those of `coord mcp`.
fn without_rules(text: &str) -> String {
    let mut lines = Vec::new();
    let mut is_rule = false;
    for line in text.lines() {
        if line
            .trim_start_matches('+')
            .starts_with("Other agents work in this repository")
        {
            is_rule = true;
            lines.push("(the rules)");
        }
        is_rule &= !line.trim_start_matches('+').starts_with("Without the tools");
        if !is_rule {
            lines.push(line);
        }
    }
    lines.join("\n")
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if entry.file_name() == ".git" => {}
            true => collect(&path, found),
            false => found.push(path),
        }
    }
}

/// Writes a file of the clone, and its folder.
fn write(clone: &Repo, path: &str, text: &str) {
    let path = clone.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(clone: &Repo, path: &str) -> String {
    fs::read_to_string(clone.path().join(path)).unwrap()
}

/// A program of a shell at `path`.
fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

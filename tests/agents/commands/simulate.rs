//! `coord simulate`.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::{parts, world};
use coord_test_worlds::world::World;

/// `coord simulate` in the clone, with the programs of the folder `bin` on the path.
fn simulate(world: &World) -> Command {
    let mut command = world.coord(world.clone.path());
    command
        .env("PATH", format!("{}:/usr/bin:/bin", world.folder("bin").display()))
        .env("TMPDIR", world.folder("tmp"))
        // Set for the user's own repositories.
        .env("COORD_URL", "http://127.0.0.1:9")
        .arg("simulate");
    command
}

fn install(world: &World) {
    symlink(env!("CARGO_BIN_EXE_coord"), world.folder("bin").join("coord")).unwrap();
}

#[test]
fn two_agents_meet_and_nothing_is_left() {
    let world = world();
    install(&world);
    for agent in ["claude-code", "codex", "cursor", "gemini", "copilot", "opencode"] {
        let (code, out, error) = parts(&simulate(&world).arg(agent).output().unwrap());
        assert_eq!(code, 0, "{agent}: {out}{error}");
        let is_step = |line: &&str| line.starts_with(['1', '2', '3', '4']);
        let steps: Vec<&str> = out.lines().filter(is_step).collect();
        assert_eq!(
            steps,
            [
                "1  ann edits src/db.ts               allowed: it is hers now",
                "2  bob edits src/db.ts, too          denied",
                "3  ann pushes, and her turn ends     the file is released",
                "4  bob edits src/db.ts again         allowed: his turn",
            ],
            "{agent}"
        );
        let wait = "| WAIT: File 'src/db.ts' is being written by 'ann'";
        assert!(out.contains(wait), "{agent}: {out}");
    }
    assert_eq!(std::fs::read_dir(world.folder("tmp")).unwrap().count(), 0);
    assert!(!world.clone.path().join(".git/coord").exists());
}

#[test]
fn the_hooks_that_are_configured_are_played() {
    let world = world();
    install(&world);
    let hooks = world.clone.path().join(".codex/hooks.json");
    std::fs::create_dir_all(hooks.parent().unwrap()).unwrap();
    std::fs::write(&hooks, "exec coord hook codex PreToolUse").unwrap();
    let (code, out, _) = parts(&simulate(&world).output().unwrap());
    assert_eq!(code, 0, "{out}");
    let beginning = format!("Hooks of codex: {}\n", hooks.display());
    assert!(out.starts_with(&beginning), "{out}");
    assert_eq!(out.matches("Hooks of").count(), 1, "{out}");
}

#[test]
fn hooks_that_let_both_edit_are_found_out() {
    let world = world();
    let (code, _, error) = parts(&simulate(&world).output().unwrap());
    assert_eq!(code, 1);
    assert!(error.starts_with("coord: coord is not on your PATH"), "{error}");
    let allows = world.folder("bin").join("coord");
    std::fs::write(&allows, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&allows, PermissionsExt::from_mode(0o755)).unwrap();
    let (code, out, _) = parts(&simulate(&world).output().unwrap());
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("allowed: ann's work is lost"), "{out}");
    let end = "The hooks do not protect files: run `coord doctor`.\n\n";
    assert!(out.ends_with(end), "{out}");
}

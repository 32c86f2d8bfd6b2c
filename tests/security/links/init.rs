//! `coord init`: links of the repository, and those of the user's home.

use std::fs;
use std::os::unix::fs::symlink;

use super::{SECRET, World, run, text};

#[test]
fn a_folder_link_out_of_the_repository_is_named_and_refused_and_the_rest_is_written() {
    let world = World::with(&[("a.txt", "a\n")]);
    let home = world.folder("home");
    fs::create_dir(home.join(".codex")).unwrap();
    fs::write(home.join(".codex/config.toml"), format!("# {SECRET}\n")).unwrap();
    symlink(home.join(".codex"), world.clone.path().join(".codex")).unwrap();
    symlink(home.join(".bash_profile"), world.clone.path().join("AGENTS.md")).unwrap();
    let arguments = ["init", "claude-code", "codex", "--no-check"];
    let preview = text(&run(&world, &[&arguments[..], &["--dry-run"]].concat(), ""));
    for name in [".codex", "AGENTS.md"] {
        let note = format!("Note: {name} is a symbolic link, which Coord does not follow here: replace it");
        assert!(preview.contains(&note), "{preview}");
    }
    let output = run(&world, &[&arguments[..], &["--yes"]].concat(), "");
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(!printed.contains(SECRET), "{printed}");
    assert!(!home.join(".bash_profile").exists() && !home.join(".codex/hooks.json").exists());
    assert_eq!(
        fs::read_to_string(home.join(".codex/config.toml")).unwrap(),
        format!("# {SECRET}\n")
    );
    assert!(world.clone.path().join(".mcp.json").is_file());
    let undone = run(&world, &["init", "--undo", "--yes"], "");
    assert_eq!(undone.status.code(), Some(0), "{}", text(&undone));
    assert!(!world.clone.path().join(".mcp.json").exists());
    assert!(home.join(".codex/config.toml").exists());
}

#[test]
fn a_folder_link_of_the_home_is_followed_and_named() {
    let world = World::with(&[("a.txt", "a\n")]);
    let home = world.folder("home");
    let dotfiles = world.folder("dotfiles");
    symlink(&dotfiles, home.join(".codex")).unwrap();
    let output = run(&world, &["init", "codex", "--user", "--yes", "--no-check"], "");
    let printed = text(&output);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    let real = dotfiles.canonicalize().unwrap();
    let named = format!("~/.codex/config.toml -> {}", real.join("config.toml").display());
    assert!(printed.contains(&named), "{printed}");
    assert!(
        fs::read_to_string(dotfiles.join("config.toml"))
            .unwrap()
            .contains("coord")
    );
}

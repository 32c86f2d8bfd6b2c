//! `coord doctor`.

use std::os::unix::fs::symlink;

use serde_json::Value;

use super::{json, parts, printed, run, world};
use coord_test_worlds::world::World;

/// The findings where `coord` is on the path, as agents run it.
fn installed(world: &World, status: i32) -> Value {
    let bin = world.folder("bin");
    if !bin.join("coord").exists() {
        symlink(env!("CARGO_BIN_EXE_coord"), bin.join("coord")).unwrap();
    }
    let mut command = world.coord(world.clone.path());
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let (code, out, error) = parts(&command.args(["doctor", "--json"]).output().unwrap());
    assert_eq!(code, status, "{out}{error}");
    serde_json::from_str(&out).unwrap()
}

/// The state of each subject, with the line that fixes it.
fn states(findings: &Value) -> Vec<String> {
    let findings = findings.as_array().unwrap().iter();
    let line = |finding: &Value| {
        let text = |name: &str| finding[name].as_str().unwrap_or("-").to_owned();
        format!("{} {}: {}", text("state"), text("subject"), text("mend"))
    };
    findings.map(line).collect()
}

#[test]
fn a_clone_that_is_well_lacks_hooks_alone() {
    let world = world();
    let findings = json(&world, &["doctor", "--json"], 0);
    insta::assert_snapshot!(states(&findings).join("\n"));
    let text = printed(&world, &["doctor"], 0);
    assert!(text.starts_with("No errors, 2 warnings.\n\nwarn   hooks "), "{text}");
    assert!(text.contains("\n                   coord init\n"), "{text}");
    assert!(text.contains("\nok     branch      the work is for main\n"), "{text}");
}

// rule: commands#other-json
#[test]
fn a_problem_comes_with_the_command_that_fixes_it() {
    let world = world();
    let broken = json(&world, &["doctor", "--json", "--url", "http://127.0.0.1:1"], 1);
    let lines = states(&broken);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("wrong server: export COORD_URL=")),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"warn token: export COORD_TOKEN=$(gh auth token)".to_owned()),
        "{lines:?}"
    );
    let no_file = world.folder("home").join("missing");
    let file = no_file.display().to_string();
    let unreadable = json(&world, &["doctor", "--json", "--token-file", &file], 1);
    let lines = states(&unreadable);
    assert!(
        lines.contains(&"wrong token: export COORD_TOKEN=$(gh auth token)".to_owned()),
        "{lines:?}"
    );
    let unknown = json(&world, &["doctor", "--json", "--branch", "nowhere"], 1);
    let lines = states(&unknown);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("wrong head: git ls-remote --heads origin")),
        "{lines:?}"
    );
    let outside = world
        .coord(&world.folder("empty"))
        .args(["doctor", "--json"])
        .output()
        .unwrap();
    let (code, out, _) = parts(&outside);
    let lines = states(&serde_json::from_str(&out).unwrap());
    assert_eq!((code, lines.len()), (1, 2), "{lines:?}");
    assert!(lines[1].starts_with("wrong repository: cd to a clone"), "{lines:?}");
}

#[test]
fn warnings_are_printed() {
    let world = world();
    let other = world.worktree("other");
    other.commit(&[("src/db.ts", "export const query = 3;\n")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let root = world.clone.path();
    std::fs::create_dir_all(root.join(".claude")).unwrap();
    let configure = |command: &str| {
        let text = serde_json::json!({ "hooks": { "PreToolUse": [{ "command": command }] } }).to_string();
        std::fs::write(root.join(".claude/settings.json"), text).unwrap();
    };
    // Of an earlier version: it fails where coord is not installed.
    configure("coord hook claude-code PreToolUse");
    let lines = states(&installed(&world, 0));
    assert!(lines.contains(&"warn hooks: coord init".to_owned()), "{lines:?}");
    configure("command -v coord >/dev/null 2>&1 || exit 0; exec coord hook claude-code PreToolUse");
    let guard = |git_hook: &str| {
        let script = format!("#!/bin/sh\nexec coord guard {git_hook} \"$@\"\n");
        let path = root.join(".git/hooks").join(git_hook);
        std::fs::write(&path, script).unwrap();
        // Git runs no other ones.
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    guard("pre-commit");
    let lines = states(&installed(&world, 0));
    for line in [
        "warn head: git pull --rebase",
        "warn hooks: restart claude-code in this folder; it reads its hooks when it starts",
        "warn git hooks: coord init",
    ] {
        assert!(lines.contains(&line.to_owned()), "{line}: {lines:?}");
    }
    let hook_calls = root.join(".git/coord/hooks/claude-code");
    std::fs::create_dir_all(&hook_calls).unwrap();
    std::fs::write(hook_calls.join("PreToolUse"), "").unwrap();
    guard("commit-msg");
    let lines = states(&installed(&world, 0));
    for line in ["ok hooks: -", "ok git hooks: -"] {
        assert!(lines.contains(&line.to_owned()), "{line}: {lines:?}");
    }
    let findings = installed(&world, 0);
    let hooks = findings
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["subject"] == "hooks");
    let found = hooks.unwrap()["found"].as_str().unwrap();
    assert!(found.contains(", denies edits of locked files, last run "), "{found}");
}

#[test]
fn hooks_of_plugins_are_found_where_agents_install_them() {
    let world = world();
    let plugins = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/plugins");
    for (plugin, place) in [
        (
            "claude-code/hooks/hooks.json",
            ".claude/plugins/cache/coord/coord/0.1.0/hooks/hooks.json",
        ),
        (
            "codex/hooks/hooks.json",
            ".codex/plugins/cache/coord/coord/0.1.0/hooks/hooks.json",
        ),
        (
            "cursor/hooks/hooks.json",
            ".cursor/plugins/local/coord/hooks/hooks.json",
        ),
        ("gemini/hooks/hooks.json", ".gemini/extensions/coord/hooks/hooks.json"),
        (
            "copilot/hooks.json",
            ".copilot/installed-plugins/coord/coord/hooks.json",
        ),
    ] {
        let path = world.folder("home").join(place);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(plugins.join(plugin), path).unwrap();
        let agent = plugin.split('/').next().unwrap();
        let lines = states(&installed(&world, 0));
        let line = format!("warn hooks: restart {agent} in this folder; it reads its hooks when it starts");
        assert!(lines.contains(&line), "{line}: {lines:?}");
    }
}

#[test]
fn hooks_that_cannot_run_or_do_not_deny_are_an_error() {
    let world = world();
    let settings = world.clone.path().join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let hook = "command -v coord >/dev/null 2>&1 || exit 0; exec coord hook claude-code PreToolUse";
    std::fs::write(
        &settings,
        serde_json::json!({ "hooks": { "PreToolUse": [{ "command": hook }] } }).to_string(),
    )
    .unwrap();
    let doctor = || {
        let mut command = world.coord(world.clone.path());
        command.env("PATH", format!("{}:/usr/bin:/bin", world.folder("bin").display()));
        let (code, out, _) = parts(&command.args(["doctor", "--json"]).output().unwrap());
        assert_eq!(code, 1, "{out}");
        serde_json::from_str::<Value>(&out).unwrap()
    };
    let lines = states(&doctor());
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_coord")).parent().unwrap();
    let fix = format!("wrong PATH: export PATH=\"{}:$PATH\"", folder.display());
    assert!(lines.contains(&fix), "{lines:?}");
    let allows = world.folder("bin").join("coord");
    std::fs::write(&allows, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&allows, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let findings = doctor();
    assert!(
        states(&findings).contains(&"wrong hooks: coord init".to_owned()),
        "{findings}"
    );
    assert!(
        findings
            .to_string()
            .contains("the hook PreToolUse allows an edit of a file that another holds"),
        "{findings}"
    );
}

#[test]
fn hot_files_are_reported_until_a_policy_shares_them() {
    let world = world();
    for number in 0..20 {
        world.clone.commit(&[("CHANGELOG.md", &number.to_string())]);
    }
    world.clone.git(&["push", "--quiet", "origin", "main"]);
    let fix = "warn hot files: coord policy suggest --write".to_owned();
    let lines = || states(&json(&world, &["doctor", "--json"], 0));
    assert!(lines().contains(&fix), "{:?}", lines());
    let policy = world.clone.path().join(".coord.toml");
    std::fs::write(&policy, "ttl_seconds = 600\n").unwrap();
    assert!(lines().contains(&fix), "{:?}", lines());
    let (code, _, errors) = run(&world, &["policy", "suggest", "--write"]);
    assert_eq!(code, 0, "{errors}");
    let text = std::fs::read_to_string(&policy).unwrap();
    assert!(
        text.contains("/CHANGELOG.md") && text.ends_with("ttl_seconds = 600\n"),
        "{text}"
    );
    assert!(!lines().iter().any(|line| line.contains("hot files")), "{:?}", lines());
}

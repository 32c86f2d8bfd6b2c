//! `coord doctor`.

use serde_json::Value;

use super::{json, parts, printed, world};

/// The state of each subject, and its line that mends it.
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
    assert!(text.contains("\nok     branch      the work is for main\n"), "{text}");
    assert!(text.ends_with("\nNothing is wrong; 2 could be better.\n"), "{text}");
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
    let lines = states(&json(&world, &["doctor", "--json"], 0));
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
    let lines = states(&json(&world, &["doctor", "--json"], 0));
    for line in [
        "warn head: git pull --rebase",
        "warn hooks: restart claude-code in this folder; it reads its hooks when it starts",
        "warn git hooks: coord init",
    ] {
        assert!(lines.contains(&line.to_owned()), "{line}: {lines:?}");
    }
    let heard = root.join(".git/coord/hooks/claude-code");
    std::fs::create_dir_all(&heard).unwrap();
    std::fs::write(heard.join("PreToolUse"), "").unwrap();
    guard("commit-msg");
    let lines = states(&json(&world, &["doctor", "--json"], 0));
    for line in ["ok hooks: -", "ok git hooks: -"] {
        assert!(lines.contains(&line.to_owned()), "{line}: {lines:?}");
    }
}

#[test]
fn hooks_of_plugins_are_found_where_agents_install_them() {
    let world = world();
    let plugins = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/plugins");
    for (plugin, installed) in [
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
        let path = world.folder("home").join(installed);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(plugins.join(plugin), path).unwrap();
        let agent = plugin.split('/').next().unwrap();
        let lines = states(&json(&world, &["doctor", "--json"], 0));
        let line = format!("warn hooks: restart {agent} in this folder; it reads its hooks when it starts");
        assert!(lines.contains(&line), "{line}: {lines:?}");
    }
}

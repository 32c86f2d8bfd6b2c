//! `coord doctor`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use super::{json as json_of, parts, printed, world};
use crate::texts::assert_has;
use coord_test_worlds::world::World;

/// The findings with the programs of the folder `bin` on the path.
fn findings(world: &World, status: i32) -> Value {
    let mut command = world.coord(world.clone.path());
    command.env("PATH", format!("{}:/usr/bin:/bin", world.folder("bin").display()));
    let (code, out, error) = parts(&command.args(["doctor", "--json"]).output().unwrap());
    assert_eq!(code, status, "{out}{error}");
    serde_json::from_str(&out).unwrap()
}

/// Puts `coord` on the path, as agents run it.
fn install(world: &World) {
    symlink(env!("CARGO_BIN_EXE_coord"), world.folder("bin").join("coord")).unwrap();
}

/// Writes an executable script.
fn script(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Configures a hook of Claude Code.
fn configure(world: &World, command: &str) {
    let settings = world.clone.path().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let hooks = serde_json::json!({ "hooks": { "PreToolUse": [{ "command": command }] } });
    fs::write(settings, hooks.to_string()).unwrap();
}

const GUARDED: &str = "command -v coord >/dev/null 2>&1 || exit 0; exec coord hook claude-code PreToolUse";

/// The state of each subject, with the line that fixes it.
fn states(findings: &Value) -> Vec<String> {
    let findings = findings.as_array().unwrap().iter();
    let line = |finding: &Value| {
        let text = |name: &str| finding[name].as_str().unwrap_or("-").to_owned();
        format!("{} {}: {}", text("state"), text("subject"), text("mend"))
    };
    findings.map(line).collect()
}

/// Asserts that one of the states is `line`.
#[track_caller]
fn assert_state(findings: &Value, line: &str) {
    let states = states(findings);
    assert!(states.iter().any(|state| state == line), "{line}: {states:?}");
}

#[test]
fn a_clone_that_is_well_lacks_hooks_alone() {
    let world = world();
    let findings = json_of(&world, &["doctor", "--json"], 0);
    insta::assert_snapshot!(states(&findings).join("\n"));
    let text = printed(&world, &["doctor"], 0);
    let beginning = "No errors, 2 warnings.\n\nwarn   hooks ";
    assert!(text.starts_with(beginning), "{text}");
    let branch = "\nok     branch      the work is for main\n";
    assert_has(&text, &["\n                   coord init\n", branch]);
}

// rule: commands#other-json
#[test]
fn a_problem_comes_with_the_command_that_fixes_it() {
    let world = world();
    let lines = |option: &str, value: &str| {
        let findings = json_of(&world, &["doctor", "--json", option, value], 1);
        format!("\n{}\n", states(&findings).join("\n"))
    };
    let unreachable = lines("--url", "http://127.0.0.1:1");
    assert_has(&unreachable, &["\nwrong server: export COORD_URL="]);
    assert_has(&unreachable, &["\nwarn token: export COORD_TOKEN=$(gh auth token)\n"]);
    let missing = world.folder("home").join("missing").display().to_string();
    let unreadable = lines("--token-file", &missing);
    assert_has(&unreadable, &["\nwrong token: export COORD_TOKEN=$(gh auth token)\n"]);
    let unknown = lines("--branch", "nowhere");
    assert_has(&unknown, &["\nwrong head: git ls-remote --heads origin"]);
    let mut outside = world.coord(&world.folder("empty"));
    let (code, out, _) = parts(&outside.args(["doctor", "--json"]).output().unwrap());
    let lines = states(&serde_json::from_str(&out).unwrap());
    assert_eq!((code, lines.len()), (1, 2), "{lines:?}");
    assert!(lines[1].starts_with("wrong repository: cd to a clone"), "{lines:?}");
}

#[test]
fn warnings_are_printed() {
    let world = world();
    install(&world);
    let other = world.worktree("other");
    other.commit(&[("src/db.ts", "export const query = 3;\n")]);
    other.git(&["push", "--quiet", "origin", "HEAD:main"]);
    let git_folder = world.clone.path().join(".git");
    // Of an earlier version: it fails where coord is not installed.
    configure(&world, "coord hook claude-code PreToolUse");
    assert_state(&findings(&world, 0), "warn hooks: coord init");
    configure(&world, GUARDED);
    let guard = |git_hook: &str| {
        // Git runs no script that is not executable.
        let text = format!("#!/bin/sh\nexec coord guard {git_hook} \"$@\"\n");
        script(&git_folder.join("hooks").join(git_hook), &text);
    };
    guard("pre-commit");
    let found = findings(&world, 0);
    for line in [
        "warn head: git pull --rebase",
        "warn hooks: restart claude-code in this folder; it reads its hooks when it starts",
        "warn git hooks: coord init",
    ] {
        assert_state(&found, line);
    }
    let hook_calls = git_folder.join("coord/hooks/claude-code");
    fs::create_dir_all(&hook_calls).unwrap();
    fs::write(hook_calls.join("PreToolUse"), "").unwrap();
    guard("commit-msg");
    let found = findings(&world, 0);
    assert_state(&found, "ok hooks: -");
    assert_state(&found, "ok git hooks: -");
    let mut subjects = found.as_array().unwrap().iter();
    let hooks = subjects.find(|finding| finding["subject"] == "hooks").unwrap();
    let text = hooks["found"].as_str().unwrap();
    assert_has(text, &[", denies edits of locked files, last run "]);
}

#[test]
fn hooks_of_plugins_are_found_where_agents_install_them() {
    let world = world();
    install(&world);
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/plugins");
    for (agent, hooks, place) in [
        (
            "claude-code",
            "hooks/hooks.json",
            ".claude/plugins/cache/coord/coord/0.1.0",
        ),
        ("codex", "hooks/hooks.json", ".codex/plugins/cache/coord/coord/0.1.0"),
        ("cursor", "hooks/hooks.json", ".cursor/plugins/local/coord"),
        ("gemini", "hooks/hooks.json", ".gemini/extensions/coord"),
        ("copilot", "hooks.json", ".copilot/installed-plugins/coord/coord"),
    ] {
        let path = world.folder("home").join(place).join(hooks);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(plugins.join(agent).join(hooks), path).unwrap();
        let line = format!("warn hooks: restart {agent} in this folder; it reads its hooks when it starts");
        assert_state(&findings(&world, 0), &line);
    }
}

#[test]
fn hooks_that_cannot_run_or_do_not_deny_are_an_error() {
    let world = world();
    configure(&world, GUARDED);
    let folder = Path::new(env!("CARGO_BIN_EXE_coord")).parent().unwrap();
    let fix = format!("wrong PATH: export PATH=\"{}:$PATH\"", folder.display());
    assert_state(&findings(&world, 1), &fix);
    script(&world.folder("bin").join("coord"), "#!/bin/sh\nexit 0\n");
    let found = findings(&world, 1);
    assert_state(&found, "wrong hooks: coord init");
    let sentence = "the hook PreToolUse allows an edit of a file that another holds";
    assert_has(&found.to_string(), &[sentence]);
}

#[test]
fn hot_files_are_reported_until_a_policy_shares_them() {
    let world = world();
    for number in 0..20 {
        world.clone.commit(&[("CHANGELOG.md", &number.to_string())]);
    }
    world.clone.git(&["push", "--quiet", "origin", "main"]);
    let fix = "warn hot files: coord policy suggest --write";
    let findings = || json_of(&world, &["doctor", "--json"], 0);
    assert_state(&findings(), fix);
    let policy = world.clone.path().join(".coord.toml");
    fs::write(&policy, "ttl_seconds = 600\n").unwrap();
    assert_state(&findings(), fix);
    printed(&world, &["policy", "suggest", "--write"], 0);
    let text = fs::read_to_string(&policy).unwrap();
    assert_has(&text, &["/CHANGELOG.md"]);
    assert!(text.ends_with("ttl_seconds = 600\n"), "{text}");
    let states = states(&findings());
    assert!(!states.iter().any(|line| line.contains("hot files")), "{states:?}");
}

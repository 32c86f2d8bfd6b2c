//! A teammate, a CI job or an agent in the cloud has the repository and no `coord`. Their hooks do nothing, or, after
//! `--strict`, deny edits with a sentence.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Map, Value};

use super::{files, init, read, write};
use coord_test_worlds::world::World;

/// The file of each agent's hooks, and its event before an edit.
const HOOKS: [(&str, &str, &str); 5] = [
    ("claude-code", ".claude/settings.json", "PreToolUse"),
    ("codex", ".codex/hooks.json", "PreToolUse"),
    ("cursor", ".cursor/hooks.json", "preToolUse"),
    ("gemini", ".gemini/settings.json", "BeforeTool"),
    ("copilot", ".github/hooks/coord.json", "preToolUse"),
];

const REQUIRED: &str =
    "Coord is not installed on this machine, and this repository requires it for edits: put coord on the PATH\n";

/// The hooks of a file, by their events: what each is wanted for, and what it runs.
fn hooks(text: &str) -> Vec<(String, Value, Map<String, Value>)> {
    let file: Value = serde_json::from_str(text).unwrap();
    let mut found = Vec::new();
    for (event, elements) in file["hooks"].as_object().unwrap() {
        for element in elements.as_array().unwrap() {
            let handler = element.pointer("/hooks/0").unwrap_or(element);
            found.push((
                event.clone(),
                element["matcher"].clone(),
                handler.as_object().unwrap().clone(),
            ));
        }
    }
    found
}

/// Runs a hook in a shell that finds no `coord`.
fn run(handler: &Map<String, Value>, folder: &Path) -> Output {
    let command = handler.get("bash").unwrap_or_else(|| &handler["command"]);
    let mut shell = Command::new("/bin/sh");
    shell.current_dir(folder).args(["-c", command.as_str().unwrap()]);
    shell
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn a_hook_without_coord_allows_everything_and_prints_nothing() {
    let world = World::with(&[("a.txt", "a\n")]);
    for (agent, file, _) in HOOKS {
        init(&world, &[agent, "--yes", "--no-check", "--no-guard"]);
        for (event, _, handler) in hooks(&read(&world.clone, file)) {
            let output = run(&handler, world.clone.path());
            let outcome = (output.status.code(), output.stdout, output.stderr);
            assert_eq!(outcome, (Some(0), vec![], vec![]), "{agent} {event}");
            assert!(
                !handler.contains_key("failClosed") && !handler.contains_key("onFailure"),
                "{agent} {event}"
            );
        }
    }
}

#[test]
fn a_strict_hook_without_coord_denies_edits_and_lets_reading_tools_run() {
    let world = World::with(&[("a.txt", "a\n")]);
    for (agent, file, before_edit) in HOOKS {
        init(&world, &[agent, "--strict", "--yes", "--no-check", "--no-guard"]);
        let mut denied = 0;
        for (event, matcher, handler) in hooks(&read(&world.clone, file)) {
            let output = run(&handler, world.clone.path());
            let only_reads = matches!(matcher.as_str(), Some("Read" | "read_file"));
            if event == before_edit && !only_reads {
                denied += 1;
                assert_eq!(output.status.code(), Some(2), "{agent} {event}");
                assert_eq!(String::from_utf8_lossy(&output.stderr), REQUIRED, "{agent}");
                assert!(
                    !matcher.as_str().unwrap_or_default().to_lowercase().contains("read"),
                    "{agent} {matcher}"
                );
                let field = match agent {
                    "claude-code" => handler["onFailure"] == "block",
                    "cursor" => handler["failClosed"] == true,
                    _ => true,
                };
                assert!(field, "{agent} {handler:?}");
            } else {
                assert_eq!(output.status.code(), Some(0), "{agent} {event}");
            }
        }
        assert_eq!(denied, 1, "{agent}");
    }
}

#[test]
fn strict_hooks_stay_strict_until_they_are_removed() {
    for agent in ["claude-code", "cursor", "copilot", "opencode"] {
        let world = World::with(&[("a.txt", "a\n")]);
        let arguments = [agent, "--yes", "--no-check", "--no-guard"];
        init(&world, &arguments);
        let guarded = files(world.clone.path());
        init(&world, &[&arguments[..], &["--strict"]].concat());
        let strict = files(world.clone.path());
        assert_ne!(strict, guarded, "{agent}");
        let printed = init(&world, &arguments);
        assert!(
            printed.contains("Note: the hooks here are strict, and stay so"),
            "{agent}: {printed}"
        );
        assert_eq!(files(world.clone.path()), strict, "{agent}");
        // A clone without the record takes both forms away as well.
        fs::remove_file(world.clone.path().join(".git/coord/init.json")).unwrap();
        init(&world, &["--undo", "--yes"]);
        assert_eq!(files(world.clone.path()), "=== a.txt\na\n", "{agent}");
        init(&world, &arguments);
        assert_eq!(files(world.clone.path()), guarded, "{agent}");
        init(&world, &["--undo", "--yes"]);
        assert_eq!(files(world.clone.path()), "=== a.txt\na\n", "{agent}");
    }
}

/// Returns `text` as earlier versions wrote it: without a guard, where Copilot's hook had none.
fn as_before(agent: &str, before_edit: &str, text: &str) -> String {
    let mut file: Value = serde_json::from_str(text).unwrap();
    for (event, elements) in file["hooks"].as_object_mut().unwrap() {
        let command = format!("coord hook {agent} {event}");
        let elements = elements.as_array_mut().unwrap();
        // They woke no session.
        elements.retain(|element| element["hooks"][0]["asyncRewake"].is_null());
        for element in elements {
            let is_group = element.get("hooks").is_some();
            let handler = if is_group { &mut element["hooks"][0] } else { element };
            let handler = handler.as_object_mut().unwrap();
            handler.remove("commandWindows");
            match agent {
                "copilot" => {
                    let bash = format!("if command -v coord >/dev/null 2>&1; then {command}; fi");
                    let powershell = format!("if (Get-Command coord -ErrorAction SilentlyContinue) {{ {command} }}");
                    handler.insert("bash".to_owned(), bash.into());
                    handler.insert("powershell".to_owned(), powershell.into());
                }
                _ => _ = handler.insert("command".to_owned(), command.clone().into()),
            }
            if agent == "cursor" && event == before_edit {
                handler.insert("failClosed".to_owned(), true.into());
            }
        }
    }
    serde_json::to_string_pretty(&file).unwrap() + "\n"
}

#[test]
fn hooks_of_earlier_versions_are_replaced_and_removed() {
    for (agent, file, before_edit) in HOOKS {
        let world = World::with(&[("a.txt", "a\n")]);
        let arguments = [agent, "--yes", "--no-check", "--no-guard"];
        init(&world, &arguments);
        let written = read(&world.clone, file);
        let before = as_before(agent, before_edit, &written);
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();

        // A clone with the record of the earlier version, and with a hook that the user added.
        let mut mine = value(&before);
        let own = serde_json::json!({ "command": "mine.sh", "hooks": [{ "command": "mine.sh" }] });
        mine["hooks"][before_edit].as_array_mut().unwrap().push(own.clone());
        write(&world.clone, file, &serde_json::to_string_pretty(&mine).unwrap());
        let printed = init(&world, &arguments);
        assert!(!printed.contains("set otherwise"), "{agent}: {printed}");
        let mut expected = value(&written);
        expected["hooks"][before_edit].as_array_mut().unwrap().push(own.clone());
        assert_eq!(value(&read(&world.clone, file)), expected, "{agent}");
        init(&world, &["--undo", "--yes"]);
        let left = value(&read(&world.clone, file));
        assert_eq!(left["hooks"], serde_json::json!({ before_edit: [own] }), "{agent}");
        fs::remove_file(world.clone.path().join(file)).unwrap();

        // In one that only has the files.
        for is_updated in [false, true] {
            write(&world.clone, file, &before);
            if is_updated {
                init(&world, &arguments);
                assert_eq!(value(&read(&world.clone, file)), value(&written), "{agent}");
            }
            init(&world, &["--undo", "--yes"]);
            assert_eq!(files(world.clone.path()), "=== a.txt\na\n", "{agent}");
        }
    }
}

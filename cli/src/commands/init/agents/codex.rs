//! Codex: `config.toml` and `hooks.json` in `.codex` or `~/.codex`.

use std::path::{Path, PathBuf};

use coord::settings::env_vars;
use serde_json::{Value, json};
use toml_edit::Array;

use super::{Agent, Attempt, Event, Hooks, Places, Reads, command_handler, folder_in, json_file};
use crate::commands::init::json::Syntax;
use crate::commands::init::table::Table;
use crate::commands::init::target::{Content, Target};

/// What the MCP server gets of the user's environment, of which Codex hands on nothing else: hooks and commands get all of it.
const HANDED_ON: [&str; 5] = [
    env_vars::COORD_URL,
    env_vars::COORD_TOKEN,
    env_vars::COORD_AGENT,
    env_vars::COORD_BRANCH,
    env_vars::COORD_TEAM,
];

pub static AGENT: Agent = Agent {
    name: "codex",
    programs: &["codex"],
    marks: &[".codex"],
    user_folder,
    files,
    reads: Some(Reads::SHARED),
    hooks: Some(Hooks {
        events: &[
            Event::new("SessionStart"),
            Event::new("UserPromptSubmit"),
            Event::before_edit("PreToolUse", Some("apply_patch|Edit|Write|Bash|mcp__.*")),
            Event::after("PostToolUse", "apply_patch|Edit|Write|Bash|mcp__.*"),
            Event::new("Stop"),
            Event::new("SubagentStop"),
            Event::new("SessionEnd"),
        ],
        denies: |reply| super::says_deny(reply, "/hookSpecificOutput/permissionDecision"),
        payload,
    }),
    next: Some("trust the folder, then the hooks with /hooks: it runs none before"),
};

fn user_folder(home: &Path) -> PathBuf {
    folder_in("CODEX_HOME", home.join(".codex"))
}

fn files(agent: &Agent, places: &Places) -> Vec<Target> {
    let server = Table {
        parent: "mcp_servers",
        name: "coord",
        values: vec![
            ("command", "coord".into()),
            ("args", Array::from_iter(["mcp"]).into()),
            ("env_vars", Array::from_iter(HANDED_ON).into()),
        ],
    };
    let config = agent.path(places, ".codex/config.toml", "config.toml");
    let hooks = agent.path(places, ".codex/hooks.json", "hooks.json");
    vec![
        Target::new(config, Content::Table(server)),
        json_file(hooks, Syntax::Strict, agent.hook_groups(command_handler)),
    ]
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = json!({
        "session_id": attempt.conversation, "turn_id": "1", "transcript_path": null, "cwd": attempt.root, "model": "",
        "permission_mode": "default", "hook_event_name": event.name,
    });
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+\n*** End Patch\n",
        attempt.file.display()
    );
    let more = match event.name {
        "SessionStart" => json!({ "source": "startup" }),
        "UserPromptSubmit" => json!({ "prompt": "" }),
        "PreToolUse" => json!({ "tool_name": "apply_patch", "tool_use_id": "1", "tool_input": { "command": patch } }),
        "PostToolUse" => {
            json!({ "tool_name": "Bash", "tool_use_id": "1", "tool_input": { "command": "true" }, "tool_response": "" })
        }
        _ => json!({ "stop_hook_active": false, "last_assistant_message": null }),
    };
    super::extend(&mut payload, more);
    payload
}

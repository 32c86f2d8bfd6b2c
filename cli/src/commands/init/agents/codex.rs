//! Codex: `config.toml` and `hooks.json` in `.codex` or `~/.codex`.

use std::path::{Path, PathBuf};

use coord_settings::env_vars;
use jsonc_parser::json;
use serde_json::{Value, json as value};
use toml_edit::Array;

use super::agent::{
    Agent, Attempt, Event, HOOK_SECONDS, Hooks, InstructionFiles, TargetFolders, extend, folder_from_env, is_denied,
    json_file, properties,
};
use super::handler::{Form, Handler};
use crate::commands::init::json::{Entry, Syntax};
use crate::commands::init::table::Table;
use crate::commands::init::target::{Content, Target};

/// Variables that the MCP server inherits. Codex passes on no others to it; hooks and commands get all.
const INHERITED_VARIABLES: [&str; 5] = [
    env_vars::COORD_URL,
    env_vars::COORD_TOKEN,
    env_vars::COORD_AGENT,
    env_vars::COORD_BRANCH,
    env_vars::COORD_TEAM,
];

/// The longest time limit that Codex allows for this event.
const SESSION_END_SECONDS: usize = 3;

/// The MCP server in a plugin, whose file is JSON.
#[cfg(test)]
pub fn server() -> Entry {
    let names = INHERITED_VARIABLES.map(|name| name.into());
    Entry::Property(
        vec!["mcpServers", "coord"],
        json!({ "command": "coord", "args": ["mcp"], "env_vars": (jsonc_parser::cst::CstInputValue::Array(names.into())) }),
    )
}

pub static AGENT: Agent = Agent {
    name: "codex",
    programs: &["codex"],
    marks: &[".codex"],
    user_folder,
    files,
    instruction_files: Some(InstructionFiles::SHARED),
    hooks: Some(Hooks {
        events: &[
            Event::new("SessionStart"),
            Event::new("UserPromptSubmit"),
            Event::before_edit("PreToolUse", Some("apply_patch|Edit|Write|Bash|mcp__.*")),
            Event::after("PostToolUse", "apply_patch|Edit|Write|Bash|mcp__.*"),
            Event::new("Stop"),
            Event::new("Interrupt"),
            Event::new("SubagentStart"),
            Event::new("SubagentStop"),
            Event::new("SessionEnd"),
        ],
        denies: |reply| is_denied(reply, "/hookSpecificOutput/permissionDecision"),
        payload,
        entries,
        command: Handler::sh,
    }),
    next_step: Some("trust the folder, then the hooks with /hooks: it runs none before"),
};

/// The file of the hooks in a project.
const HOOKS_FILE: &str = ".codex/hooks.json";

fn user_folder(home: &Path) -> PathBuf {
    folder_from_env("CODEX_HOME", home.join(".codex"))
}

fn files(agent: &Agent, target_folders: &TargetFolders, form: Form) -> Vec<Target> {
    let server = Table {
        parent: "mcp_servers",
        name: "coord",
        values: vec![
            ("command", "coord".into()),
            ("args", Array::from_iter(["mcp"]).into()),
            ("env_vars", Array::from_iter(INHERITED_VARIABLES).into()),
        ],
    };
    let config = agent.path(target_folders, ".codex/config.toml", "config.toml");
    // In a worktree, Codex reads the configuration, but not the hooks.
    let hooks = match &target_folders.main_checkout {
        Some(main) => main.join(HOOKS_FILE),
        None => agent.path(target_folders, HOOKS_FILE, "hooks.json"),
    };
    vec![
        Target::new(config, Content::Table(server)),
        json_file(hooks, Syntax::Strict, agent.hook_entries(form)),
    ]
}

fn entries(agent: &Agent, form: Form) -> Vec<Entry> {
    agent.hook_groups(form, |hook| {
        let command = hook.handler.sh();
        let seconds = match hook.event.name {
            "SessionEnd" => SESSION_END_SECONDS,
            _ => HOOK_SECONDS,
        };
        let mut handler = properties(json!({ "type": "command", "command": command, "timeout": seconds }));
        if hook.handler.form != Form::Plain {
            // On Windows, Codex shows the failure of a hook, but does not stop.
            let command = hook.handler.command.as_str();
            handler.insert(2, ("commandWindows".to_owned(), command.into()));
        }
        handler
    })
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = value!({
        "session_id": attempt.conversation, "turn_id": "1", "transcript_path": null, "cwd": attempt.root, "model": "",
        "permission_mode": "default", "hook_event_name": event.name,
    });
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+\n*** End Patch\n",
        attempt.file.display()
    );
    let more = match event.name {
        "SessionStart" => value!({ "source": "startup" }),
        "UserPromptSubmit" => value!({ "prompt": "" }),
        "PreToolUse" => value!({ "tool_name": "apply_patch", "tool_use_id": "1", "tool_input": { "command": patch } }),
        "PostToolUse" => value!({
            "tool_name": "Bash", "tool_use_id": "1", "tool_input": { "command": "true" }, "tool_response": "",
        }),
        "Interrupt" => value!({}),
        "SubagentStart" => value!({ "agent_id": "1", "agent_type": "default" }),
        "SessionEnd" => value!({ "reason": "other" }),
        _ => value!({ "stop_hook_active": false, "last_assistant_message": null }),
    };
    extend(&mut payload, more);
    payload
}

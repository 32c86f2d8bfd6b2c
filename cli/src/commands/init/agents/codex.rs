//! Codex: `config.toml` and `hooks.json` in `.codex` or `~/.codex`.

use std::path::{Path, PathBuf};

use coord_settings::env_vars;
use jsonc_parser::json;
use serde_json::{Value, json as sent};
use toml_edit::Array;

use super::agent::{
    Agent, Attempt, Event, HOOK_SECONDS, Hooks, InstructionFiles, TargetFolders, folder_in, json_file, object,
};
use super::handler::{Form, Handler};
use crate::commands::init::json::{Entry, Syntax};
use crate::commands::init::table::Table;
use crate::commands::init::target::{Content, Target};

/// Variables of the user's environment for the MCP server. Codex passes on no others; hooks and commands get all.
const HANDED_ON: [&str; 5] = [
    env_vars::COORD_URL,
    env_vars::COORD_TOKEN,
    env_vars::COORD_AGENT,
    env_vars::COORD_BRANCH,
    env_vars::COORD_TEAM,
];

/// The most that Codex gives the hook of this event.
const SESSION_END_SECONDS: usize = 3;

/// The MCP server in a plugin, whose file is JSON.
#[cfg(test)]
pub fn server() -> Entry {
    let names = HANDED_ON.map(|name| name.into());
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
    reads: Some(InstructionFiles::SHARED),
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
        denies: |reply| super::agent::is_denied(reply, "/hookSpecificOutput/permissionDecision"),
        payload,
        entries,
        run: Handler::sh,
    }),
    next: Some("trust the folder, then the hooks with /hooks: it runs none before"),
};

/// The file of the hooks in a project.
const HOOKS: &str = ".codex/hooks.json";

fn user_folder(home: &Path) -> PathBuf {
    folder_in("CODEX_HOME", home.join(".codex"))
}

fn files(agent: &Agent, places: &TargetFolders, form: Form) -> Vec<Target> {
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
    // Of a worktree's files it reads the configuration, and not the hooks.
    let hooks = match &places.main_checkout {
        Some(main) => main.join(HOOKS),
        None => agent.path(places, HOOKS, "hooks.json"),
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
        let mut handler = object(json!({ "type": "command", "command": command, "timeout": seconds }));
        if hook.handler.form != Form::Plain {
            // A failure of it is shown there, and stops nothing.
            let command = hook.handler.command.as_str();
            handler.insert(2, ("commandWindows".to_owned(), command.into()));
        }
        handler
    })
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = sent!({
        "session_id": attempt.conversation, "turn_id": "1", "transcript_path": null, "cwd": attempt.root, "model": "",
        "permission_mode": "default", "hook_event_name": event.name,
    });
    let patch = format!(
        "*** Begin Patch\n*** Add File: {}\n+\n*** End Patch\n",
        attempt.file.display()
    );
    let more = match event.name {
        "SessionStart" => sent!({ "source": "startup" }),
        "UserPromptSubmit" => sent!({ "prompt": "" }),
        "PreToolUse" => sent!({ "tool_name": "apply_patch", "tool_use_id": "1", "tool_input": { "command": patch } }),
        "PostToolUse" => {
            sent!({ "tool_name": "Bash", "tool_use_id": "1", "tool_input": { "command": "true" }, "tool_response": "" })
        }
        "Interrupt" => sent!({}),
        "SubagentStart" => sent!({ "agent_id": "1", "agent_type": "default" }),
        "SessionEnd" => sent!({ "reason": "other" }),
        _ => sent!({ "stop_hook_active": false, "last_assistant_message": null }),
    };
    super::agent::extend(&mut payload, more);
    payload
}

//! Claude Code: `.mcp.json` and `.claude/settings.json`, or `~/.claude.json` and `~/.claude/settings.json`.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::CstInputValue;
use serde_json::{Value, json};

use super::{
    Agent, Attempt, Event, Hooks, Places, Reads, WAKING_SECONDS, command_handler, folder_in, json_file, mcp_server,
};
use crate::commands::init::json::{Entry, Syntax};
use crate::commands::init::target::Target;

pub static AGENT: Agent = Agent {
    name: "claude-code",
    programs: &["claude"],
    marks: &[".claude", "CLAUDE.md", ".mcp.json"],
    user_folder,
    files,
    reads: Some(Reads {
        instructions: "CLAUDE.md",
        skills: ".claude/skills",
        user_skills: |home| user_folder(home).join("skills"),
    }),
    hooks: Some(Hooks {
        events: &[
            Event::new("SessionStart"),
            Event::new("UserPromptSubmit"),
            Event::before_edit(
                "PreToolUse",
                Some("Edit|MultiEdit|Write|NotebookEdit|Bash|Read|mcp__.*"),
            ),
            Event::after("PostToolUse", "Edit|MultiEdit|Write|NotebookEdit|Bash|Read|mcp__.*"),
            Event::after("PostToolUseFailure", "Edit|MultiEdit|Write|NotebookEdit|Bash|mcp__.*"),
            Event::new("Stop"),
            Event::new("SubagentStop"),
            Event::new("SessionEnd"),
        ],
        denies: |reply| super::says_deny(reply, "/hookSpecificOutput/permissionDecision"),
        payload,
    }),
    next: Some("approve the server coord when Claude Code asks, or with /mcp"),
};

fn user_folder(home: &Path) -> PathBuf {
    folder_in("CLAUDE_CONFIG_DIR", home.join(".claude"))
}

fn files(agent: &Agent, places: &Places) -> Vec<Target> {
    let servers = match &places.project {
        Some(root) => root.join(".mcp.json"),
        // Beside the folder, unless a variable names the folder.
        None => folder_in("CLAUDE_CONFIG_DIR", places.home.clone()).join(".claude.json"),
    };
    let settings = agent.path(places, ".claude/settings.json", "settings.json");
    let mut hooks = agent.hook_groups(command_handler);
    hooks.push(waking(agent));
    vec![
        json_file(servers, Syntax::Strict, vec![mcp_server()]),
        json_file(settings, Syntax::Strict, hooks),
    ]
}

/// A second hook at the end of a turn, which waits in the background for what the session waits for, and wakes it.
fn waking(agent: &Agent) -> Entry {
    let command = format!("coord hook {} Idle", agent.name);
    let mut handler = command_handler(command.clone());
    handler.retain(|(name, _)| name != "timeout");
    handler.push(("timeout".to_owned(), WAKING_SECONDS.into()));
    handler.push(("asyncRewake".to_owned(), true.into()));
    let hooks = CstInputValue::Array(vec![CstInputValue::Object(handler)]);
    Entry::Element {
        path: vec!["hooks", "Stop"],
        value: CstInputValue::Object(vec![("hooks".to_owned(), hooks)]),
        command,
    }
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = json!({
        "session_id": attempt.conversation, "transcript_path": "", "cwd": attempt.root, "permission_mode": "default",
        "hook_event_name": event.name,
    });
    let more = match event.name {
        "SessionStart" => json!({ "source": "startup" }),
        "UserPromptSubmit" => json!({ "prompt": "" }),
        "PreToolUse" => json!({ "tool_name": "Write", "tool_input": { "file_path": attempt.file, "content": "" } }),
        "PostToolUse" | "PostToolUseFailure" => {
            json!({ "tool_name": "Bash", "tool_input": { "command": "true" }, "tool_response": {} })
        }
        "Stop" | "SubagentStop" => json!({ "stop_hook_active": false }),
        _ => json!({ "reason": "other" }),
    };
    super::extend(&mut payload, more);
    payload
}

//! Claude Code: `.mcp.json` and `.claude/settings.json`, or `~/.claude.json` and `~/.claude/settings.json`.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::json;
use serde_json::{Value, json as value};

use super::agent::{
    Agent, Attempt, Event, HOOK_SECONDS, Hooks, InstructionFiles, TargetFolders, WAKING_SECONDS, extend,
    folder_from_env, is_denied, json_file, mcp_server, properties,
};
use super::handler::{Form, Handler};
use crate::commands::init::json::{Entry, Syntax};
use crate::commands::init::target::Target;

pub static AGENT: Agent = Agent {
    name: "claude-code",
    programs: &["claude"],
    marks: &[".claude", "CLAUDE.md", ".mcp.json"],
    user_folder,
    files,
    instruction_files: Some(InstructionFiles {
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
            )
            .with_reading_tool("Read"),
            Event::after("PostToolUse", "Edit|MultiEdit|Write|NotebookEdit|Bash|Read|mcp__.*"),
            Event::after("PostToolUseFailure", "Edit|MultiEdit|Write|NotebookEdit|Bash|mcp__.*"),
            Event::new("Stop"),
            Event::new("SubagentStart"),
            Event::new("SubagentStop"),
            Event::new("SessionEnd"),
        ],
        denies: |reply| is_denied(reply, "/hookSpecificOutput/permissionDecision"),
        payload,
        entries,
        command: Handler::any_shell,
    }),
    next_step: Some("approve the server coord when Claude Code asks, or with /mcp"),
};

fn user_folder(home: &Path) -> PathBuf {
    folder_from_env("CLAUDE_CONFIG_DIR", home.join(".claude"))
}

fn files(agent: &Agent, target_folders: &TargetFolders, form: Form) -> Vec<Target> {
    let servers = match &target_folders.project {
        Some(root) => root.join(".mcp.json"),
        // This file is beside `~/.claude`, but inside a folder that the variable names.
        None => folder_from_env("CLAUDE_CONFIG_DIR", target_folders.home.clone()).join(".claude.json"),
    };
    let settings = agent.path(target_folders, ".claude/settings.json", "settings.json");
    vec![
        json_file(servers, Syntax::Strict, vec![mcp_server()]),
        json_file(settings, Syntax::Strict, agent.hook_entries(form)),
    ]
}

fn entries(agent: &Agent, form: Form) -> Vec<Entry> {
    let mut entries = agent.hook_groups(form, |hook| {
        let command = hook.handler.any_shell();
        let mut handler = properties(json!({ "type": "command", "command": command, "timeout": HOOK_SECONDS }));
        if hook.handler.form == Form::Strict {
            // A hook that times out or fails must deny, too.
            handler.push(("onFailure".to_owned(), "block".into()));
        }
        handler
    });
    entries.push(waking_hook(agent, form));
    entries
}

/// A second hook at the end of a turn. It waits in the background until files are free for the session, and wakes it.
fn waking_hook(agent: &Agent, form: Form) -> Entry {
    const IDLE: Event = Event::new("Idle");
    let group = |form: Form| -> CstInputValue {
        let command = agent.handler(&IDLE, form).any_shell();
        json!({ "hooks": [{ "type": "command", "command": command, "timeout": WAKING_SECONDS, "asyncRewake": true }] })
    };
    Entry::Elements {
        path: vec!["hooks", "Stop"],
        values: vec![group(form)],
        command: agent.command(&IDLE),
        other_forms: form.others().map(group).collect(),
    }
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = value!({
        "session_id": attempt.conversation, "transcript_path": "", "cwd": attempt.root, "permission_mode": "default",
        "hook_event_name": event.name,
    });
    let more = match event.name {
        "SessionStart" => value!({ "source": "startup" }),
        "UserPromptSubmit" => value!({ "prompt": "" }),
        "PreToolUse" => value!({ "tool_name": "Write", "tool_input": { "file_path": attempt.file, "content": "" } }),
        "PostToolUse" | "PostToolUseFailure" => {
            value!({ "tool_name": "Bash", "tool_input": { "command": "true" }, "tool_response": {} })
        }
        "SubagentStart" => value!({ "agent_id": "1", "agent_type": "general-purpose" }),
        "Stop" | "SubagentStop" => value!({ "stop_hook_active": false }),
        _ => value!({ "reason": "other" }),
    };
    extend(&mut payload, more);
    payload
}

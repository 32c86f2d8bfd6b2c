//! Claude Code: `.mcp.json` and `.claude/settings.json`, or `~/.claude.json` and `~/.claude/settings.json`.

use std::path::{Path, PathBuf};

use jsonc_parser::cst::CstInputValue;
use jsonc_parser::json;
use serde_json::{Value, json as sent};

use super::agent::{
    Agent, Attempt, Event, HOOK_SECONDS, Hooks, InstructionFiles, TargetFolders, WAKING_SECONDS, folder_in, json_file,
    mcp_server, object,
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
    reads: Some(InstructionFiles {
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
            .reading("Read"),
            Event::after("PostToolUse", "Edit|MultiEdit|Write|NotebookEdit|Bash|Read|mcp__.*"),
            Event::after("PostToolUseFailure", "Edit|MultiEdit|Write|NotebookEdit|Bash|mcp__.*"),
            Event::new("Stop"),
            Event::new("SubagentStart"),
            Event::new("SubagentStop"),
            Event::new("SessionEnd"),
        ],
        denies: |reply| super::agent::is_denied(reply, "/hookSpecificOutput/permissionDecision"),
        payload,
        entries,
        run: Handler::any_shell,
    }),
    next: Some("approve the server coord when Claude Code asks, or with /mcp"),
};

fn user_folder(home: &Path) -> PathBuf {
    folder_in("CLAUDE_CONFIG_DIR", home.join(".claude"))
}

fn files(agent: &Agent, places: &TargetFolders, form: Form) -> Vec<Target> {
    let servers = match &places.project {
        Some(root) => root.join(".mcp.json"),
        // Beside the folder, unless a variable names the folder.
        None => folder_in("CLAUDE_CONFIG_DIR", places.home.clone()).join(".claude.json"),
    };
    let settings = agent.path(places, ".claude/settings.json", "settings.json");
    vec![
        json_file(servers, Syntax::Strict, vec![mcp_server()]),
        json_file(settings, Syntax::Strict, agent.hook_entries(form)),
    ]
}

fn entries(agent: &Agent, form: Form) -> Vec<Entry> {
    let mut entries = agent.hook_groups(form, |hook| {
        let command = hook.handler.any_shell();
        let mut handler = object(json!({ "type": "command", "command": command, "timeout": HOOK_SECONDS }));
        if hook.handler.form == Form::Strict {
            // One that takes too long or ends otherwise denies as well.
            handler.push(("onFailure".to_owned(), "block".into()));
        }
        handler
    });
    entries.push(waking(agent, form));
    entries
}

/// A second hook at the end of a turn, which waits in the background for the session's files, and wakes it.
fn waking(agent: &Agent, form: Form) -> Entry {
    const IDLE: Event = Event::new("Idle");
    let group = |form: Form| -> CstInputValue {
        let command = agent.handler(&IDLE, form).any_shell();
        json!({ "hooks": [{ "type": "command", "command": command, "timeout": WAKING_SECONDS, "asyncRewake": true }] })
    };
    let others = Form::ALL.into_iter().filter(|other| *other != form);
    Entry::Elements {
        path: vec!["hooks", "Stop"],
        values: vec![group(form)],
        command: agent.command(&IDLE),
        others: others.map(group).collect(),
    }
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = sent!({
        "session_id": attempt.conversation, "transcript_path": "", "cwd": attempt.root, "permission_mode": "default",
        "hook_event_name": event.name,
    });
    let more = match event.name {
        "SessionStart" => sent!({ "source": "startup" }),
        "UserPromptSubmit" => sent!({ "prompt": "" }),
        "PreToolUse" => sent!({ "tool_name": "Write", "tool_input": { "file_path": attempt.file, "content": "" } }),
        "PostToolUse" | "PostToolUseFailure" => {
            sent!({ "tool_name": "Bash", "tool_input": { "command": "true" }, "tool_response": {} })
        }
        "SubagentStart" => sent!({ "agent_id": "1", "agent_type": "general-purpose" }),
        "Stop" | "SubagentStop" => sent!({ "stop_hook_active": false }),
        _ => sent!({ "reason": "other" }),
    };
    super::agent::extend(&mut payload, more);
    payload
}

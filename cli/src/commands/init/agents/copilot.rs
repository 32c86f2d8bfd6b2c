//! Copilot CLI: `.github/mcp.json` and `.github/hooks/coord.json`, or `mcp-config.json` and `hooks/coord.json` in
//! `~/.copilot`.

use std::path::{Path, PathBuf};

use jsonc_parser::json;
use serde_json::{Value, json as value};

use super::agent::{
    Agent, Attempt, Event, HOOK_SECONDS, Hooks, InstructionFiles, TargetFolders, WAKING_SECONDS, extend,
    folder_from_env, is_denied, json_file, properties,
};
use super::handler::{Form, Handler};
use crate::commands::init::json::{Entry, Syntax};
use crate::commands::init::target::Target;

/// The session does not wait for hooks of this event. Their output wakes an idle session.
const NOTIFICATION: &str = "notification";

pub static AGENT: Agent = Agent {
    name: "copilot",
    programs: &["copilot"],
    marks: &[
        ".github/copilot-instructions.md",
        ".github/copilot",
        ".github/hooks",
        ".github/mcp.json",
    ],
    user_folder,
    files,
    instruction_files: Some(InstructionFiles::SHARED),
    hooks: Some(Hooks {
        events: &[
            Event::new("sessionStart"),
            Event::new("userPromptSubmitted"),
            Event::before_edit("preToolUse", None),
            Event::new("postToolUse"),
            Event::new("postToolUseFailure"),
            Event::new("agentStop"),
            Event::new("subagentStart"),
            Event::new(NOTIFICATION),
            Event::new("sessionEnd"),
        ],
        denies: |reply| is_denied(reply, "/permissionDecision"),
        payload,
        entries,
        command: Handler::sh,
    }),
    next_step: Some("trust the folder when Copilot CLI asks"),
};

fn user_folder(home: &Path) -> PathBuf {
    folder_from_env("COPILOT_HOME", home.join(".copilot"))
}

fn files(agent: &Agent, target_folders: &TargetFolders, form: Form) -> Vec<Target> {
    vec![
        json_file(
            agent.path(target_folders, ".github/mcp.json", "mcp-config.json"),
            Syntax::Strict,
            vec![server()],
        ),
        json_file(
            agent.path(target_folders, ".github/hooks/coord.json", "hooks/coord.json"),
            Syntax::Strict,
            agent.hook_entries(form),
        ),
    ]
}

fn server() -> Entry {
    Entry::Property(
        vec!["mcpServers", "coord"],
        json!({ "type": "local", "command": "coord", "args": ["mcp"], "tools": ["*"] }),
    )
}

/// The MCP server in a plugin, which without `cwd` would run in the plugin's own folder.
#[cfg(test)]
pub fn plugin_server() -> Entry {
    Entry::Property(
        vec!["mcpServers", "coord"],
        json!({ "type": "local", "command": "coord", "args": ["mcp"], "cwd": ".", "tools": ["*"] }),
    )
}

/// Copilot denies every tool whose hook fails, and its agent in the cloud reads these files, too.
fn entries(agent: &Agent, form: Form) -> Vec<Entry> {
    let mut entries = vec![Entry::Format("version", json!(1_usize))];
    entries.extend(agent.hook_elements(form, |hook| {
        let handler = &hook.handler;
        let (bash, powershell) = match handler.form {
            // For Copilot, earlier versions wrote a guard around the plain command.
            Form::Plain => (
                format!("if command -v coord >/dev/null 2>&1; then {}; fi", handler.command),
                format!(
                    "if (Get-Command coord -ErrorAction SilentlyContinue) {{ {} }}",
                    handler.command
                ),
            ),
            _ => (handler.sh(), handler.powershell()),
        };
        let seconds = match hook.event.name {
            NOTIFICATION => WAKING_SECONDS,
            _ => HOOK_SECONDS,
        };
        properties(json!({ "type": "command", "bash": bash, "powershell": powershell, "timeoutSec": seconds }))
    }));
    entries
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = value!({ "sessionId": attempt.conversation, "timestamp": 0, "cwd": attempt.root });
    let arguments = value!({ "path": attempt.file, "file_text": "" }).to_string();
    let more = match event.name {
        "sessionStart" => value!({ "source": "new", "initialPrompt": "" }),
        "userPromptSubmitted" => value!({ "prompt": "" }),
        "preToolUse" => value!({ "toolName": "create", "toolArgs": arguments }),
        "postToolUse" => value!({
            "toolName": "bash", "toolArgs": "{\"command\":\"true\"}",
            "toolResult": { "resultType": "success", "textResultForLlm": "" },
        }),
        "postToolUseFailure" => value!({ "toolName": "bash", "toolArgs": "{\"command\":\"false\"}", "error": "" }),
        "subagentStart" => value!({ "agentName": "task", "agentDisplayName": "Task" }),
        "agentStop" => value!({ "transcriptPath": "", "stopReason": "end_turn" }),
        NOTIFICATION => value!({ "notification_type": "shell_completed", "message": "" }),
        _ => value!({ "reason": "complete" }),
    };
    extend(&mut payload, more);
    payload
}

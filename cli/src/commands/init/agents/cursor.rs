//! Cursor: `mcp.json` and `hooks.json` in `.cursor` or `~/.cursor`.

use jsonc_parser::json;
use serde_json::{Value, json as value};

use super::agent::{
    Agent, Attempt, Event, HOOK_SECONDS, Hooks, InstructionFiles, TargetFolders, extend, is_denied, json_file,
    mcp_server, properties,
};
use super::handler::{Form, Handler};
use crate::commands::init::json::{Entry, Syntax};
use crate::commands::init::target::Target;

pub static AGENT: Agent = Agent {
    name: "cursor",
    programs: &["cursor", "cursor-agent"],
    marks: &[".cursor", ".cursorrules"],
    user_folder: |home| home.join(".cursor"),
    files,
    instruction_files: Some(InstructionFiles::SHARED),
    hooks: Some(Hooks {
        events: &[
            Event::new("sessionStart"),
            Event::new("beforeSubmitPrompt"),
            Event::before_edit(
                "preToolUse",
                Some("Write|Edit|MultiEdit|StrReplace|Delete|EditNotebook|TabWrite|ApplyPatch|Shell|Read|MCP.*"),
            )
            .with_reading_tool("Read"),
            Event::after(
                "postToolUse",
                "Write|Edit|MultiEdit|StrReplace|Delete|EditNotebook|TabWrite|ApplyPatch|Shell|Read|MCP.*",
            ),
            Event::after(
                "postToolUseFailure",
                "Write|Edit|MultiEdit|StrReplace|Delete|EditNotebook|TabWrite|ApplyPatch|Shell|MCP.*",
            ),
            Event::new("stop"),
            Event::new("sessionEnd"),
        ],
        denies: |reply| is_denied(reply, "/permission"),
        payload,
        entries,
        command: Handler::any_shell,
    }),
    next_step: Some("enable the server coord in the settings of Cursor, under MCP"),
};

fn files(agent: &Agent, target_folders: &TargetFolders, form: Form) -> Vec<Target> {
    vec![
        json_file(
            agent.path(target_folders, ".cursor/mcp.json", "mcp.json"),
            Syntax::Comments,
            vec![mcp_server()],
        ),
        json_file(
            agent.path(target_folders, ".cursor/hooks.json", "hooks.json"),
            Syntax::Comments,
            agent.hook_entries(form),
        ),
    ]
}

fn entries(agent: &Agent, form: Form) -> Vec<Entry> {
    let mut entries = vec![Entry::Format("version", json!(1_usize))];
    entries.extend(agent.hook_elements(form, |hook| {
        let command = hook.handler.any_shell();
        let mut handler = properties(json!({ "command": command, "timeout": HOOK_SECONDS }));
        if let Some(matcher) = &hook.matcher {
            handler.push(("matcher".to_owned(), matcher.as_str().into()));
        }
        // Without this, a hook that cannot run or times out would allow the edit. The plain form always had it.
        if hook.event.is_before_edit && hook.handler.form != Form::Guarded {
            handler.push(("failClosed".to_owned(), true.into()));
        }
        handler
    }));
    entries
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = value!({
        "conversation_id": attempt.conversation, "generation_id": "1", "hook_event_name": event.name,
        "workspace_roots": [attempt.root], "cursor_version": "",
    });
    let more = match event.name {
        "sessionStart" => value!({ "session_id": attempt.conversation, "is_background_agent": false }),
        "beforeSubmitPrompt" => value!({ "prompt": "", "attachments": [] }),
        "preToolUse" => value!({
            "tool_name": "Write", "tool_use_id": "1", "cwd": attempt.root,
            "tool_input": { "file_path": attempt.file, "content": "" },
        }),
        "postToolUse" => value!({
            "tool_name": "Shell", "tool_use_id": "1", "cwd": attempt.root, "tool_input": { "command": "true" }, "tool_output": "",
        }),
        "postToolUseFailure" => value!({
            "tool_name": "Shell", "tool_use_id": "1", "cwd": attempt.root, "tool_input": { "command": "false" },
            "error_message": "", "failure_type": "error",
        }),
        "stop" => value!({ "status": "completed", "loop_count": 0 }),
        _ => value!({ "session_id": attempt.conversation, "reason": "completed" }),
    };
    extend(&mut payload, more);
    payload
}

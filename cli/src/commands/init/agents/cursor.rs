//! Cursor: `mcp.json` and `hooks.json` in `.cursor` or `~/.cursor`.

use jsonc_parser::json;
use serde_json::{Value, json as sent};

use super::agent::{
    Agent, Attempt, Event, HOOK_SECONDS, Hooks, InstructionFiles, TargetFolders, json_file, mcp_server, object,
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
    reads: Some(InstructionFiles::SHARED),
    hooks: Some(Hooks {
        events: &[
            Event::new("sessionStart"),
            Event::new("beforeSubmitPrompt"),
            Event::before_edit(
                "preToolUse",
                Some("Write|Edit|MultiEdit|StrReplace|Delete|EditNotebook|TabWrite|ApplyPatch|Shell|Read|MCP.*"),
            )
            .reading("Read"),
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
        denies: |reply| super::agent::is_denied(reply, "/permission"),
        payload,
        entries,
        run: Handler::any_shell,
    }),
    next: Some("enable the server coord in the settings of Cursor, under MCP"),
};

fn files(agent: &Agent, places: &TargetFolders, form: Form) -> Vec<Target> {
    vec![
        json_file(
            agent.path(places, ".cursor/mcp.json", "mcp.json"),
            Syntax::Comments,
            vec![mcp_server()],
        ),
        json_file(
            agent.path(places, ".cursor/hooks.json", "hooks.json"),
            Syntax::Comments,
            agent.hook_entries(form),
        ),
    ]
}

fn entries(agent: &Agent, form: Form) -> Vec<Entry> {
    let mut entries = vec![Entry::Format("version", json!(1_usize))];
    entries.extend(agent.hook_elements(form, |hook| {
        let command = hook.handler.any_shell();
        let mut handler = object(json!({ "command": command, "timeout": HOOK_SECONDS }));
        if let Some(matcher) = &hook.matcher {
            handler.push(("matcher".to_owned(), matcher.as_str().into()));
        }
        // One that cannot run, or takes too long, would else allow the edit. The plain form had it always.
        if hook.event.is_before_edit && hook.handler.form != Form::Guarded {
            handler.push(("failClosed".to_owned(), true.into()));
        }
        handler
    }));
    entries
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = sent!({
        "conversation_id": attempt.conversation, "generation_id": "1", "hook_event_name": event.name,
        "workspace_roots": [attempt.root], "cursor_version": "",
    });
    let more = match event.name {
        "sessionStart" => sent!({ "session_id": attempt.conversation, "is_background_agent": false }),
        "beforeSubmitPrompt" => sent!({ "prompt": "", "attachments": [] }),
        "preToolUse" => sent!({
            "tool_name": "Write", "tool_use_id": "1", "cwd": attempt.root,
            "tool_input": { "file_path": attempt.file, "content": "" },
        }),
        "postToolUse" => sent!({
            "tool_name": "Shell", "tool_use_id": "1", "cwd": attempt.root, "tool_input": { "command": "true" }, "tool_output": "",
        }),
        "postToolUseFailure" => sent!({
            "tool_name": "Shell", "tool_use_id": "1", "cwd": attempt.root, "tool_input": { "command": "false" },
            "error_message": "", "failure_type": "error",
        }),
        "stop" => sent!({ "status": "completed", "loop_count": 0 }),
        _ => sent!({ "session_id": attempt.conversation, "reason": "completed" }),
    };
    super::agent::extend(&mut payload, more);
    payload
}

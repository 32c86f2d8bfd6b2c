//! Gemini CLI: `settings.json` in `.gemini` or `~/.gemini`.

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
    name: "gemini",
    programs: &["gemini"],
    marks: &[".gemini", "GEMINI.md"],
    user_folder: |home| home.join(".gemini"),
    files,
    instruction_files: Some(InstructionFiles {
        instructions: "GEMINI.md",
        ..InstructionFiles::SHARED
    }),
    hooks: Some(Hooks {
        events: &[
            Event::new("SessionStart"),
            Event::new("BeforeAgent"),
            Event::before_edit(
                "BeforeTool",
                Some("write_file|replace|run_shell_command|read_file|mcp_.*"),
            )
            .with_reading_tool("read_file"),
            Event::after("AfterTool", "write_file|replace|run_shell_command|read_file|mcp_.*"),
            Event::new("AfterAgent"),
            Event::new("SessionEnd"),
        ],
        denies: |reply| is_denied(reply, "/decision"),
        payload,
        entries,
        command: Handler::any_shell,
    }),
    next_step: Some("trust the folder when Gemini CLI asks, and look at /hooks"),
};

fn files(agent: &Agent, target_folders: &TargetFolders, form: Form) -> Vec<Target> {
    let mut entries = vec![mcp_server()];
    entries.extend(agent.hook_entries(form));
    let settings = agent.path(target_folders, ".gemini/settings.json", "settings.json");
    vec![json_file(settings, Syntax::Comments, entries)]
}

fn entries(agent: &Agent, form: Form) -> Vec<Entry> {
    agent.hook_groups(form, |hook| {
        let milliseconds = HOOK_SECONDS * 1000;
        let command = hook.handler.any_shell();
        properties(json!({ "name": "coord", "type": "command", "command": command, "timeout": milliseconds }))
    })
}

fn payload(event: &Event, attempt: &Attempt) -> Value {
    let mut payload = value!({
        "session_id": attempt.conversation, "transcript_path": "", "cwd": attempt.root, "hook_event_name": event.name,
        "timestamp": "1970-01-01T00:00:00Z",
    });
    let more = match event.name {
        "SessionStart" => value!({ "source": "startup" }),
        "BeforeAgent" => value!({ "prompt": "" }),
        "BeforeTool" => {
            value!({ "tool_name": "write_file", "tool_input": { "file_path": attempt.file, "content": "" } })
        }
        "AfterTool" => {
            value!({ "tool_name": "run_shell_command", "tool_input": { "command": "true" }, "tool_response": {} })
        }
        "AfterAgent" => value!({ "prompt": "", "prompt_response": "", "stop_hook_active": false }),
        _ => value!({ "reason": "exit" }),
    };
    extend(&mut payload, more);
    payload
}

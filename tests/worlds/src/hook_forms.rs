//! The payloads of each agent, as its documents give them (2026-11), and how it is denied.
//!
//! - Claude Code: code.claude.com/docs/en/hooks
//! - Codex: `codex-rs/hooks/schema/generated` and `codex-rs/hooks/src/engine/output_parser.rs` of openai/codex
//! - Cursor: cursor.com/docs/hooks
//! - Gemini CLI: `docs/hooks/reference.md` of google-gemini/gemini-cli
//! - Copilot CLI: `content/copilot/reference/hooks-reference.md` of github/docs
//! - OpenCode: opencode.ai/docs/plugins; the form is that of Coord's plugin

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

/// The name of an event, and its payload.
pub type Call = (&'static str, Value);

/// The answer of a hook.
#[derive(Debug)]
pub struct Answer {
    pub status: i32,
    pub body: Value,
    pub aside: String,
}

impl Answer {
    pub fn of(output: &Output) -> Answer {
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        Answer {
            status: output.status.code().unwrap(),
            body: match text.trim() {
                "" => Value::Null,
                text => serde_json::from_str(text).unwrap(),
            },
            aside: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }
}

/// The form of one agent.
pub struct Form {
    pub agent: &'static str,
    pub start: fn(&Path) -> Call,
    pub prompt: fn(&Path, &str) -> Call,
    pub edit: fn(&Path, &Path) -> Call,
    pub shell: fn(&Path, &str) -> Call,
    pub after_shell: fn(&Path, &str) -> Call,
    pub turn_end: fn(&Path) -> Call,
    pub end: fn(&Path) -> Call,
    /// The reason, where the answer is one that the agent takes for a denial.
    pub denial: fn(&Answer) -> Option<String>,
}

pub const ALL: [&Form; 6] = [&CLAUDE_CODE, &CODEX, &CURSOR, &GEMINI, &COPILOT, &OPENCODE];

/// A call with fields that all calls of an agent have, and more of this event.
fn call(event: &'static str, mut common: Value, more: Value) -> Call {
    let Value::Object(more) = more else {
        panic!("not an object")
    };
    common.as_object_mut().unwrap().extend(more);
    (event, common)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

/// A call of Claude Code or Codex.
fn claude(folder: &Path, event: &'static str, more: Value) -> Call {
    let common = json!({
        "session_id": "00893aaf-19fa-41d2-8238-13269b9b3ca0",
        "transcript_path": "/home/ada/.claude/projects/x/00893aaf.jsonl",
        "cwd": folder,
        "permission_mode": "default",
        "hook_event_name": event,
    });
    call(event, common, more)
}

fn claude_denial(answer: &Answer) -> Option<String> {
    let output = &answer.body["hookSpecificOutput"];
    let is_denied =
        answer.status == 0 && output["hookEventName"] == "PreToolUse" && output["permissionDecision"] == "deny";
    is_denied.then(|| text(&output["permissionDecisionReason"])).flatten()
}

pub const CLAUDE_CODE: Form = Form {
    agent: "claude-code",
    start: |folder| claude(folder, "SessionStart", json!({ "source": "startup", "model": "x" })),
    prompt: |folder, prompt| claude(folder, "UserPromptSubmit", json!({ "prompt": prompt })),
    edit: |folder, file| {
        let tool = json!({ "file_path": file, "old_string": "a", "new_string": "b" });
        let more = json!({ "tool_name": "Edit", "tool_input": tool, "tool_use_id": "toolu_01ABC123" });
        claude(folder, "PreToolUse", more)
    },
    shell: |folder, command| {
        let tool = json!({ "command": command, "description": "x", "timeout": 120_000 });
        claude(folder, "PreToolUse", json!({ "tool_name": "Bash", "tool_input": tool }))
    },
    after_shell: |folder, command| {
        let tool = json!({ "command": command });
        let more = json!({ "tool_name": "Bash", "tool_input": tool, "tool_response": { "stdout": "", "stderr": "" } });
        claude(folder, "PostToolUse", more)
    },
    turn_end: |folder| claude(folder, "Stop", json!({ "stop_hook_active": false })),
    end: |folder| claude(folder, "SessionEnd", json!({ "reason": "exit" })),
    denial: claude_denial,
};

pub const CODEX: Form = Form {
    agent: "codex",
    start: CLAUDE_CODE.start,
    prompt: |folder, prompt| {
        let more = json!({ "prompt": prompt, "model": "x", "turn_id": "1" });
        claude(folder, "UserPromptSubmit", more)
    },
    edit: |folder, file| {
        let patch = format!(
            "*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\n",
            file.display()
        );
        let more = json!({ "model": "x", "tool_name": "apply_patch", "tool_input": { "command": patch }, "tool_use_id": "call_1" });
        claude(folder, "PreToolUse", more)
    },
    shell: |folder, command| {
        let more =
            json!({ "model": "x", "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "call_1" });
        claude(folder, "PreToolUse", more)
    },
    after_shell: |folder, command| {
        let more =
            json!({ "model": "x", "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": "" });
        claude(folder, "PostToolUse", more)
    },
    turn_end: CLAUDE_CODE.turn_end,
    end: CLAUDE_CODE.end,
    denial: claude_denial,
};

fn cursor(folder: &Path, event: &'static str, more: Value) -> Call {
    let common = json!({
        "conversation_id": "conv-1",
        "generation_id": "gen-1",
        "model": "x",
        "hook_event_name": event,
        "cursor_version": "2.0.77",
        "workspace_roots": [folder],
        "user_email": null,
        "transcript_path": null,
    });
    call(event, common, more)
}

pub const CURSOR: Form = Form {
    agent: "cursor",
    start: |folder| {
        let more = json!({ "session_id": "conv-1", "is_background_agent": false, "composer_mode": "agent" });
        cursor(folder, "sessionStart", more)
    },
    prompt: |folder, prompt| {
        let more = json!({ "prompt": prompt, "attachments": [] });
        cursor(folder, "beforeSubmitPrompt", more)
    },
    edit: |folder, file| {
        let more = json!({ "tool_name": "Write", "tool_input": { "file_path": file, "content": "b" }, "tool_use_id": "abc123" });
        cursor(folder, "preToolUse", more)
    },
    shell: |folder, command| {
        let more = json!({ "command": command, "cwd": folder, "sandbox": false });
        cursor(folder, "beforeShellExecution", more)
    },
    after_shell: |folder, command| {
        let more =
            json!({ "tool_name": "Shell", "tool_input": { "command": command }, "tool_output": "{}", "cwd": folder });
        cursor(folder, "postToolUse", more)
    },
    turn_end: |folder| cursor(folder, "stop", json!({ "status": "completed", "loop_count": 0 })),
    end: |folder| cursor(folder, "sessionEnd", json!({ "reason": "completed" })),
    denial: |answer| {
        let is_denied = answer.status == 0 && answer.body["permission"] == "deny";
        is_denied.then(|| text(&answer.body["agent_message"])).flatten()
    },
};

fn gemini(folder: &Path, event: &'static str, more: Value) -> Call {
    let common = json!({
        "session_id": "s1",
        "transcript_path": "/home/ada/.gemini/tmp/x.json",
        "cwd": folder,
        "hook_event_name": event,
        "timestamp": "2026-11-23T10:00:00Z",
    });
    call(event, common, more)
}

pub const GEMINI: Form = Form {
    agent: "gemini",
    start: |folder| gemini(folder, "SessionStart", json!({ "source": "startup" })),
    prompt: |folder, prompt| gemini(folder, "BeforeAgent", json!({ "prompt": prompt })),
    edit: |folder, file| {
        let more = json!({ "tool_name": "write_file", "tool_input": { "file_path": file, "content": "b" } });
        gemini(folder, "BeforeTool", more)
    },
    shell: |folder, command| {
        let more = json!({ "tool_name": "run_shell_command", "tool_input": { "command": command } });
        gemini(folder, "BeforeTool", more)
    },
    after_shell: |folder, command| {
        let more = json!({ "tool_name": "run_shell_command", "tool_input": { "command": command },
            "tool_response": { "llmContent": "", "returnDisplay": "" } });
        gemini(folder, "AfterTool", more)
    },
    turn_end: |folder| {
        let more = json!({ "prompt": "x", "prompt_response": "y", "stop_hook_active": false });
        gemini(folder, "AfterAgent", more)
    },
    end: |folder| gemini(folder, "SessionEnd", json!({ "reason": "exit" })),
    denial: |answer| {
        let is_denied = answer.status == 0 && answer.body["decision"] == "deny";
        is_denied.then(|| text(&answer.body["reason"])).flatten()
    },
};

fn copilot(folder: &Path, event: &'static str, more: Value) -> Call {
    let common = json!({ "sessionId": "s1", "timestamp": 1_704_614_600_000_u64, "cwd": folder });
    call(event, common, more)
}

pub const COPILOT: Form = Form {
    agent: "copilot",
    start: |folder| copilot(folder, "sessionStart", json!({ "source": "new" })),
    prompt: |folder, prompt| copilot(folder, "userPromptSubmitted", json!({ "prompt": prompt })),
    edit: |folder, file| {
        // The arguments were JSON in a text before, and still are in some versions.
        let arguments = json!({ "path": file, "old_str": "a", "new_str": "b" }).to_string();
        let more = json!({ "toolName": "edit", "toolArgs": arguments });
        copilot(folder, "preToolUse", more)
    },
    shell: |folder, command| {
        let more = json!({ "toolName": "bash", "toolArgs": { "command": command, "description": "x" } });
        copilot(folder, "preToolUse", more)
    },
    after_shell: |folder, command| {
        let result = json!({ "resultType": "success", "textResultForLlm": "" });
        let more = json!({ "toolName": "bash", "toolArgs": { "command": command }, "toolResult": result });
        copilot(folder, "postToolUse", more)
    },
    turn_end: |folder| {
        let more = json!({ "transcriptPath": "/x", "stopReason": "end_turn", "stop_hook_active": false });
        copilot(folder, "agentStop", more)
    },
    end: |folder| copilot(folder, "sessionEnd", json!({ "reason": "complete" })),
    denial: |answer| {
        let is_denied = answer.status == 2 && answer.body["permissionDecision"] == "deny";
        let reason = || text(&answer.body["permissionDecisionReason"]);
        is_denied.then(reason).flatten()
    },
};

fn opencode(folder: &Path, event: &'static str, more: Value) -> Call {
    call(event, json!({ "sessionID": "ses_1", "cwd": folder }), more)
}

pub const OPENCODE: Form = Form {
    agent: "opencode",
    start: |folder| opencode(folder, "session.created", json!({})),
    prompt: |folder, prompt| opencode(folder, "chat.message", json!({ "prompt": prompt })),
    edit: |folder, file| {
        let more = json!({ "tool": "write", "args": { "filePath": file, "content": "b" } });
        opencode(folder, "tool.execute.before", more)
    },
    shell: |folder, command| {
        let more = json!({ "tool": "bash", "args": { "command": command } });
        opencode(folder, "tool.execute.before", more)
    },
    after_shell: |folder, command| {
        let more = json!({ "tool": "bash", "args": { "command": command } });
        opencode(folder, "tool.execute.after", more)
    },
    turn_end: |folder| opencode(folder, "session.idle", json!({})),
    end: |folder| opencode(folder, "session.deleted", json!({})),
    denial: |answer| text(&answer.body["deny"]).filter(|_| answer.status == 0),
};

/// The event after the tool whose event before it is `call`, with the same arguments.
pub fn after(form: &Form, (_, mut call): Call) -> Call {
    let event = match form.agent {
        "claude-code" | "codex" => "PostToolUse",
        "cursor" | "copilot" => "postToolUse",
        "gemini" => "AfterTool",
        _ => "tool.execute.after",
    };
    if call.get("hook_event_name").is_some() {
        call["hook_event_name"] = json!(event);
    }
    (event, call)
}

/// A tool that reads `file`, before or after it. Codex reads in its shell alone.
pub fn read(form: &Form, folder: &Path, file: &Path, is_after: bool) -> Call {
    let name = match form.agent {
        "codex" => {
            let command = format!("cat '{}'", file.display());
            return match is_after {
                true => (form.after_shell)(folder, &command),
                false => (form.shell)(folder, &command),
            };
        }
        "claude-code" | "cursor" => "Read",
        "gemini" => "read_file",
        "copilot" => "view",
        _ => "read",
    };
    let (event, mut call) = match is_after {
        true => after(form, (form.edit)(folder, file)),
        false => (form.edit)(folder, file),
    };
    let (of_name, of_input) = match form.agent {
        "copilot" => ("toolName", "toolArgs"),
        "opencode" => ("tool", "args"),
        _ => ("tool_name", "tool_input"),
    };
    call[of_name] = json!(name);
    call[of_input] = match form.agent {
        "gemini" => json!({ "absolute_path": file }),
        "copilot" => json!({ "path": file }),
        "opencode" => json!({ "filePath": file }),
        _ => json!({ "file_path": file }),
    };
    (event, call)
}

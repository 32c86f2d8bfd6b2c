//! Cursor: <https://cursor.com/docs/hooks>. Denied by JSON or by exit status 2; after another failure the tool runs, unless the hook is
//! configured with `failClosed`. A prompt takes no text for the model; the beginning of a session and a tool's result do.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision, Moment, Tool};
use super::{Form, fields};

pub(super) const FORM: Form = Form {
    name: "cursor",
    events: &[
        ("sessionStart", Moment::SessionStart),
        ("beforeSubmitPrompt", Moment::Prompt),
        ("preToolUse", Moment::BeforeTool),
        ("beforeShellExecution", Moment::BeforeTool),
        ("postToolUse", Moment::AfterTool),
        ("afterShellExecution", Moment::AfterTool),
        ("afterFileEdit", Moment::AfterTool),
        ("stop", Moment::TurnEnd),
        ("sessionEnd", Moment::SessionEnd),
    ],
    conversation: &["conversation_id", "session_id"],
    has_many_conversations: true,
    tool,
    takes_context: |event, _| takes_context(event),
    answer,
    denies_by_any_status: false,
};

fn takes_context(event: &str) -> bool {
    matches!(event, "sessionStart" | "postToolUse")
}

fn tool(event: &str, call: &Value) -> Result<Tool, String> {
    match event {
        "beforeShellExecution" | "afterShellExecution" => return Ok(fields::shell(call)),
        "afterFileEdit" => return fields::edit(event, call),
        _ => {}
    }
    let arguments = fields::arguments(call, &["tool_input"]);
    let name = fields::text(call, &["tool_name"]).ok_or("the hook's input names no tool")?;
    match name.as_str() {
        "Write" | "Edit" | "MultiEdit" | "StrReplace" | "Delete" | "EditNotebook" | "NotebookEdit" | "TabWrite" => {
            fields::edit(&name, &arguments)
        }
        "ApplyPatch" => fields::patch(&name, &arguments),
        "Shell" | "Bash" => Ok(fields::shell(&arguments)),
        _ => Ok(Tool::Other),
    }
}

fn answer(event: &str, decision: &Decision) -> Answer {
    match decision {
        Decision::Deny { reason } => Answer {
            body: Some(json!({ "permission": "deny", "user_message": reason, "agent_message": reason })),
            ..Answer::default()
        },
        // Without `permission`, Cursor asks its user where it would without a hook.
        Decision::Proceed { context, note } => {
            let body = match context {
                Some(context) if takes_context(event) => json!({ "additional_context": context }),
                _ => json!({}),
            };
            Answer {
                body: Some(body),
                // A field of `stop` would make the agent go on with it as a prompt.
                aside: note.clone(),
                ..Answer::default()
            }
        }
    }
}

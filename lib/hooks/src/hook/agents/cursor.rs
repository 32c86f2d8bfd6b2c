//! Cursor: <https://cursor.com/docs/hooks>. JSON or exit status 2 denies a tool. After another failure the tool runs,
//! unless the hook is configured with `failClosed`. A prompt accepts no text for the model; the start of a session and
//! the result of a tool do.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision, Tool};
use super::form::Form;
use super::{fields, table};

pub(super) const FORM: Form = Form {
    agent: "cursor",
    rows: &table::CURSOR,
    conversation_fields: &["conversation_id", "session_id"],
    writer_fields: &[],
    takes_arguments: false,
    argument_fields: &["tool_input"],
    name_fields: &["tool_name"],
    exception,
    takes_context: |event, _| takes_context(event),
    has_failed: |_| false,
    answer,
    denies_by_any_status: false,
};

fn takes_context(event: &str) -> bool {
    matches!(event, "sessionStart" | "postToolUse")
}

/// Each of these events is for a single tool, and does not name it.
fn exception(event: &str, _: &str, call: &Value) -> Option<Result<Tool, String>> {
    match event {
        "beforeShellExecution" | "afterShellExecution" => Some(Ok(fields::shell_tool(call))),
        "afterFileEdit" => Some(fields::edit_tool(event, call)),
        _ => None,
    }
}

fn answer(event: &str, decision: &Decision) -> Answer {
    match decision {
        Decision::Deny { reason } => {
            Answer::json(json!({ "permission": "deny", "user_message": reason, "agent_message": reason }))
        }
        // Cursor sends it as the next prompt of its user.
        Decision::Continue { reason, note } => Answer {
            stderr: note.clone(),
            ..Answer::json(json!({ "followup_message": reason }))
        },
        Decision::Rewrite { note, .. } => Answer {
            stderr: note.clone(),
            ..Answer::json(json!({}))
        },
        // Without `permission`, Cursor asks its user whenever it would ask without a hook.
        Decision::Proceed { context, note } => {
            let body = match context {
                Some(context) if takes_context(event) => json!({ "additional_context": context }),
                _ => json!({}),
            };
            Answer {
                // The agent would take a field of `stop` as its next prompt.
                stderr: note.clone(),
                ..Answer::json(body)
            }
        }
    }
}

//! Cursor: <https://cursor.com/docs/hooks>. Denied by JSON or by exit status 2; after another failure the tool runs, unless the hook is
//! configured with `failClosed`. A prompt takes no text for the model; the beginning of a session and a tool's result do.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision, Tool};
use super::form::Form;
use super::{fields, table};

pub(super) const FORM: Form = Form {
    agent: "cursor",
    rows: &table::CURSOR,
    conversation: &["conversation_id", "session_id"],
    writer: &[],
    takes_arguments: false,
    arguments: &["tool_input"],
    name: &["tool_name"],
    exception,
    takes_context: |event, _| takes_context(event),
    has_failed: |_| false,
    answer,
    denies_by_any_status: false,
};

fn takes_context(event: &str) -> bool {
    matches!(event, "sessionStart" | "postToolUse")
}

/// These events are each for one tool, and name none.
fn exception(event: &str, _: &str, call: &Value) -> Option<Result<Tool, String>> {
    match event {
        "beforeShellExecution" | "afterShellExecution" => Some(Ok(fields::shell(call))),
        "afterFileEdit" => Some(fields::edit(event, call)),
        _ => None,
    }
}

fn answer(event: &str, decision: &Decision) -> Answer {
    match decision {
        Decision::Deny { reason } => Answer {
            body: Some(json!({ "permission": "deny", "user_message": reason, "agent_message": reason })),
            ..Answer::default()
        },
        // Cursor sends it as the next prompt of its user.
        Decision::GoOn { reason, note } => Answer {
            body: Some(json!({ "followup_message": reason })),
            aside: note.clone(),
            ..Answer::default()
        },
        Decision::Rewrite { note, .. } => Answer {
            body: Some(json!({})),
            aside: note.clone(),
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

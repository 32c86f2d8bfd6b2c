//! Claude Code: <https://code.claude.com/docs/en/hooks>. JSON or exit status 2 denies a tool. With another status,
//! Claude Code shows the message, and the tool still runs.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision};
use super::form::Form;
use super::table;

/// The form, which is also the base of Codex's.
pub(super) const FORM: Form = Form {
    agent: "claude-code",
    rows: &table::CLAUDE_CODE,
    // Cursor and VS Code run these hooks too, and have their own fields for the conversation.
    conversation_fields: &["conversation_id", "session_id", "sessionId"],
    writer_fields: &["agent_id"],
    takes_arguments: true,
    argument_fields: &["tool_input"],
    name_fields: &["tool_name"],
    exception: |_, _, _| None,
    takes_context: |_, moment| !moment.is_end(),
    has_failed: |_| false,
    answer,
    denies_by_any_status: false,
};

/// The hook that waits for an idle session: Coord's own name for a second hook at `Stop`.
const IDLE: &str = "Idle";

/// The answer, which is also the base of Codex's.
pub(super) fn answer(event: &str, decision: &Decision) -> Answer {
    match decision {
        Decision::Deny { reason } => Answer::json(json!({ "hookSpecificOutput": {
            "hookEventName": event,
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        } })),
        Decision::Continue { reason, note } => {
            Answer::json(with_message(json!({ "decision": "block", "reason": reason }), note))
        }
        Decision::Rewrite { arguments, note } => {
            let body = json!({ "hookSpecificOutput": { "hookEventName": event, "updatedInput": arguments } });
            Answer::json(with_message(body, note))
        }
        // This hook runs in the background. Its status wakes the model with the text on standard error.
        Decision::Proceed {
            context: Some(context), ..
        } if event == IDLE => Answer {
            body: None,
            status: 2,
            stderr: Some(context.clone()),
        },
        Decision::Proceed { context, note } => {
            let (message, stderr) = match event {
                // At the end of a session, nobody reads fields.
                "SessionEnd" => (None, note.clone()),
                _ => (note.clone(), None),
            };
            let body = with_message(context_body(event, context), &message);
            Answer {
                body: Some(body).filter(|body| *body != json!({})),
                stderr,
                ..Answer::default()
            }
        }
    }
}

/// The body with `context` for the model.
pub(super) fn context_body(event: &str, context: &Option<String>) -> Value {
    match context {
        Some(context) => json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": context } }),
        None => json!({}),
    }
}

/// Adds `message` for the user to `body`.
pub(super) fn with_message(mut body: Value, message: &Option<String>) -> Value {
    if let Some(message) = message {
        body["systemMessage"] = json!(message);
    }
    body
}

//! Claude Code: <https://code.claude.com/docs/en/hooks>. JSON or exit status 2 denies a tool. With another status,
//! Claude Code shows the message, and the tool still runs.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision};
use super::form::Form;
use super::table;

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
        Decision::Deny { reason } => Answer {
            body: Some(json!({ "hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            } })),
            ..Answer::default()
        },
        Decision::Continue { reason, note } => {
            let mut body = json!({ "decision": "block", "reason": reason });
            if let Some(note) = note {
                body["systemMessage"] = json!(note);
            }
            Answer {
                body: Some(body),
                ..Answer::default()
            }
        }
        Decision::Rewrite { arguments, note } => {
            let mut body = json!({ "hookSpecificOutput": { "hookEventName": event, "updatedInput": arguments } });
            if let Some(note) = note {
                body["systemMessage"] = json!(note);
            }
            Answer {
                body: Some(body),
                ..Answer::default()
            }
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
            let mut body = serde_json::Map::new();
            if let Some(context) = context {
                let output = json!({ "hookEventName": event, "additionalContext": context });
                body.insert("hookSpecificOutput".to_owned(), output);
            }
            // At the end of a session, nobody reads fields.
            let has_reader = event != "SessionEnd";
            if let Some(note) = note.as_ref().filter(|_| has_reader) {
                body.insert("systemMessage".to_owned(), json!(note));
            }
            Answer {
                body: (!body.is_empty()).then_some(Value::Object(body)),
                stderr: note.clone().filter(|_| !has_reader),
                ..Answer::default()
            }
        }
    }
}

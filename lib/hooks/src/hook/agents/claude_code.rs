//! Claude Code: <https://code.claude.com/docs/en/hooks>. Denied by JSON or by exit status 2; with another status the message is
//! shown and the tool still runs.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision};
use super::form::Form;
use super::table;

pub(super) const FORM: Form = Form {
    agent: "claude-code",
    rows: &table::CLAUDE_CODE,
    // Cursor and VS Code run these hooks too, with their own names of the conversation.
    conversation: &["conversation_id", "session_id", "sessionId"],
    writer: &["agent_id"],
    takes_arguments: true,
    arguments: &["tool_input"],
    name: &["tool_name"],
    exception: |_, _, _| None,
    takes_context: |_, moment| !moment.is_end(),
    has_failed: |_| false,
    answer,
    denies_by_any_status: false,
};

/// The hook that waits in the place of a session: Coord's own name for a second one at `Stop`.
const IDLE: &str = "Idle";

/// The answer, which Codex has taken over.
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
        Decision::GoOn { reason, note } => {
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
        // It runs in the background, and this status wakes the model with the text on standard error.
        Decision::Proceed {
            context: Some(context), ..
        } if event == IDLE => Answer {
            body: None,
            status: 2,
            aside: Some(context.clone()),
        },
        Decision::Proceed { context, note } => {
            let mut body = serde_json::Map::new();
            if let Some(context) = context {
                let output = json!({ "hookEventName": event, "additionalContext": context });
                body.insert("hookSpecificOutput".to_owned(), output);
            }
            // At the end of a session no one reads fields.
            let has_reader = event != "SessionEnd";
            if let Some(note) = note.as_ref().filter(|_| has_reader) {
                body.insert("systemMessage".to_owned(), json!(note));
            }
            Answer {
                body: (!body.is_empty()).then_some(Value::Object(body)),
                aside: note.clone().filter(|_| !has_reader),
                ..Answer::default()
            }
        }
    }
}

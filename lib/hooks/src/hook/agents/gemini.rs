//! Gemini CLI: <https://geminicli.com/docs/hooks/reference>. JSON or exit status 2 denies a tool. Another status is a
//! warning, and the tool runs. Standard output must be JSON and nothing else.

use serde_json::{Map, Value, json};

use super::super::event::{Answer, Decision};
use super::form::Form;
use super::table;

pub(super) const FORM: Form = Form {
    agent: "gemini",
    rows: &table::GEMINI,
    conversation_fields: &["session_id"],
    writer_fields: &[],
    takes_arguments: true,
    argument_fields: &["tool_input"],
    name_fields: &["tool_name"],
    exception: |_, _, _| None,
    takes_context: |event, _| matches!(event, "SessionStart" | "BeforeAgent" | "AfterTool"),
    has_failed: |call| call["tool_response"].get("error").is_some_and(|error| !error.is_null()),
    answer,
    denies_by_any_status: false,
};

fn answer(event: &str, decision: &Decision) -> Answer {
    let body = match decision {
        Decision::Deny { reason } => json!({ "decision": "deny", "reason": reason }),
        Decision::Continue { reason, note } => {
            let mut body = json!({ "decision": "deny", "reason": reason });
            if let Some(note) = note {
                body["systemMessage"] = json!(note);
            }
            body
        }
        Decision::Rewrite { arguments, note } => {
            let mut body = json!({ "hookSpecificOutput": { "hookEventName": event, "tool_input": arguments } });
            if let Some(note) = note {
                body["systemMessage"] = json!(note);
            }
            body
        }
        Decision::Proceed { context, note } => {
            let mut body = Map::new();
            if let Some(context) = context {
                let output = json!({ "hookEventName": event, "additionalContext": context });
                body.insert("hookSpecificOutput".to_owned(), output);
            }
            if let Some(note) = note {
                body.insert("systemMessage".to_owned(), json!(note));
            }
            Value::Object(body)
        }
    };
    Answer {
        body: Some(body),
        ..Answer::default()
    }
}

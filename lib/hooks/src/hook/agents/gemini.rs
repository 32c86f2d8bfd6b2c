//! Gemini CLI: <https://geminicli.com/docs/hooks/reference>. JSON or exit status 2 denies a tool. Another status is a
//! warning, and the tool runs. Standard output must be JSON and nothing else.

use serde_json::json;

use super::super::event::{Answer, Decision};
use super::claude_code::{context_body, with_message};
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
    Answer::json(match decision {
        Decision::Deny { reason } => json!({ "decision": "deny", "reason": reason }),
        Decision::Continue { reason, note } => with_message(json!({ "decision": "deny", "reason": reason }), note),
        Decision::Rewrite { arguments, note } => {
            let body = json!({ "hookSpecificOutput": { "hookEventName": event, "tool_input": arguments } });
            with_message(body, note)
        }
        Decision::Proceed { context, note } => with_message(context_body(event, context), note),
    })
}

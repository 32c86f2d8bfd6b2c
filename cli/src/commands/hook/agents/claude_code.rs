//! Claude Code: <https://code.claude.com/docs/en/hooks>. Denied by JSON or by exit status 2; another status is shown and the tool
//! runs all the same.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision, Moment, Tool};
use super::{Form, fields};

pub(super) const FORM: Form = Form {
    name: "claude-code",
    events: &[
        ("SessionStart", Moment::SessionStart),
        ("UserPromptSubmit", Moment::Prompt),
        ("PreToolUse", Moment::BeforeTool),
        ("PostToolUse", Moment::AfterTool),
        ("Stop", Moment::TurnEnd),
        ("SessionEnd", Moment::SessionEnd),
    ],
    conversation: &["session_id"],
    has_many_conversations: false,
    tool,
    takes_context: |_, moment| !matches!(moment, Moment::TurnEnd | Moment::SessionEnd),
    answer,
    denies_by_any_status: false,
};

fn tool(_: &str, call: &Value) -> Result<Tool, String> {
    let arguments = fields::arguments(call, &["tool_input"]);
    let name = fields::text(call, &["tool_name"]).ok_or("the hook's input names no tool")?;
    match name.as_str() {
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => fields::edit(&name, &arguments),
        "Bash" => Ok(fields::shell(&arguments)),
        _ => Ok(Tool::Other),
    }
}

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
        Decision::Proceed { context, note } => {
            let mut body = serde_json::Map::new();
            if let Some(context) = context {
                let output = json!({ "hookEventName": event, "additionalContext": context });
                body.insert("hookSpecificOutput".to_owned(), output);
            }
            // At the end of a session nobody reads fields.
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

//! Gemini CLI: <https://geminicli.com/docs/hooks/reference>. Denied by JSON or by exit status 2; another status is a warning, and
//! the tool runs. Standard output must be JSON and nothing else.

use serde_json::{Map, Value, json};

use super::super::event::{Answer, Decision, Moment, Tool};
use super::{Form, fields};

pub(super) const FORM: Form = Form {
    name: "gemini",
    events: &[
        ("SessionStart", Moment::SessionStart),
        ("BeforeAgent", Moment::Prompt),
        ("BeforeTool", Moment::BeforeTool),
        ("AfterTool", Moment::AfterTool),
        ("AfterAgent", Moment::TurnEnd),
        ("SessionEnd", Moment::SessionEnd),
    ],
    conversation: &["session_id"],
    has_many_conversations: false,
    tool,
    takes_context: |event, _| matches!(event, "SessionStart" | "BeforeAgent" | "AfterTool"),
    answer,
    denies_by_any_status: false,
};

fn tool(_: &str, call: &Value) -> Result<Tool, String> {
    let arguments = fields::arguments(call, &["tool_input"]);
    let name = fields::text(call, &["tool_name"]).ok_or("the hook's input names no tool")?;
    match name.as_str() {
        "write_file" | "replace" | "edit" => fields::edit(&name, &arguments),
        "run_shell_command" => Ok(fields::shell(&arguments)),
        _ => Ok(Tool::Other),
    }
}

fn answer(event: &str, decision: &Decision) -> Answer {
    let body = match decision {
        Decision::Deny { reason } => json!({ "decision": "deny", "reason": reason }),
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

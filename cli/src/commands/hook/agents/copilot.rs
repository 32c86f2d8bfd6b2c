//! Copilot CLI: <https://docs.github.com/en/copilot/reference/hooks-reference>. A tool is denied by JSON and by every exit status but zero;
//! only a time limit that is met lets it run. Events whose names begin with a capital send other names of fields and tools.
//! What is said to a prompt is dropped.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision, Moment, Tool};
use super::{Form, fields};

pub(super) const FORM: Form = Form {
    name: "copilot",
    events: &[
        ("sessionStart", Moment::SessionStart),
        ("userPromptSubmitted", Moment::Prompt),
        ("preToolUse", Moment::BeforeTool),
        ("postToolUse", Moment::AfterTool),
        ("agentStop", Moment::TurnEnd),
        ("sessionEnd", Moment::SessionEnd),
        ("SessionStart", Moment::SessionStart),
        ("UserPromptSubmit", Moment::Prompt),
        ("PreToolUse", Moment::BeforeTool),
        ("PostToolUse", Moment::AfterTool),
        ("Stop", Moment::TurnEnd),
        ("SessionEnd", Moment::SessionEnd),
    ],
    conversation: &["sessionId", "session_id"],
    has_many_conversations: false,
    tool,
    takes_context: |_, moment| matches!(moment, Moment::SessionStart | Moment::AfterTool),
    answer,
    denies_by_any_status: true,
};

fn tool(_: &str, call: &Value) -> Result<Tool, String> {
    let arguments = fields::arguments(call, &["toolArgs", "tool_input"]);
    let name = fields::text(call, &["toolName", "tool_name"]).ok_or("the hook's input names no tool")?;
    let command = fields::text(&arguments, &["command"]);
    match name.as_str() {
        "str_replace_editor" if command.as_deref() == Some("view") => Ok(Tool::Other),
        "apply_patch" => fields::patch(&name, &arguments),
        // By its other name, a patch is an edit.
        "Edit" if fields::edit(&name, &arguments).is_err() => fields::patch(&name, &arguments),
        "edit" | "create" | "str_replace_editor" | "Edit" | "Write" => fields::edit(&name, &arguments),
        "bash" | "Bash" => Ok(fields::shell(&arguments)),
        _ => Ok(Tool::Other),
    }
}

fn answer(_: &str, decision: &Decision) -> Answer {
    match decision {
        Decision::Deny { reason } => Answer {
            body: Some(json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })),
            // The JSON is read all the same, and the status denies also where it is not understood.
            status: 2,
            aside: Some(reason.clone()),
        },
        Decision::Proceed { context, note } => Answer {
            body: context.as_ref().map(|context| json!({ "additionalContext": context })),
            aside: note.clone(),
            ..Answer::default()
        },
    }
}

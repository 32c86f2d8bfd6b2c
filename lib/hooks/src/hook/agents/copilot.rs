//! Copilot CLI: <https://docs.github.com/en/copilot/reference/hooks-reference>. A tool is denied by JSON and by every exit status but zero;
//! only a time limit that is met lets it run. Events whose names begin with a capital send other names of fields and tools. Output for a
//! prompt is dropped. VS Code's own agent runs the same hooks, with the fields of the events with a capital.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision, Moment, Tool};
use super::form::Form;
use super::{fields, table};

/// The field with the arguments of a tool, by the names of both families of events.
const ARGUMENTS: &[&str] = &["toolArgs", "tool_input"];

pub(super) const FORM: Form = Form {
    agent: "copilot",
    rows: &table::COPILOT,
    conversation: &["sessionId", "session_id"],
    writer: &[],
    takes_arguments: true,
    arguments: ARGUMENTS,
    name: &["toolName", "tool_name"],
    exception,
    takes_context: |_, moment| {
        matches!(
            moment,
            Moment::SessionStart | Moment::AfterTool | Moment::WriterStart | Moment::Idle
        )
    },
    has_failed,
    answer,
    denies_by_any_status: true,
};

fn exception(_: &str, name: &str, call: &Value) -> Option<Result<Tool, String>> {
    let arguments = || fields::arguments(call, ARGUMENTS);
    match name {
        "str_replace_editor" if fields::text(&arguments(), &["command"]).as_deref() == Some("view") => {
            Some(Ok(fields::read(&arguments())))
        }
        // By its other name, a patch is an edit.
        "Edit" if fields::edit(name, &arguments()).is_err() => Some(fields::patch(name, &arguments())),
        _ => None,
    }
}

/// Versions without a separate event report a failure in the result.
fn has_failed(call: &Value) -> bool {
    let result = call.get("toolResult").or_else(|| call.get("tool_result"));
    let kind = result.and_then(|result| fields::text(result, &["resultType", "result_type"]));
    kind.is_some_and(|kind| kind != "success")
}

fn answer(event: &str, decision: &Decision) -> Answer {
    match decision {
        Decision::Deny { reason } => Answer {
            body: Some(json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })),
            // The JSON is still read, and the status denies even if the JSON is not understood.
            status: 2,
            aside: Some(reason.clone()),
        },
        Decision::GoOn { reason, note } => Answer {
            body: Some(json!({ "decision": "block", "reason": reason })),
            aside: note.clone(),
            ..Answer::default()
        },
        Decision::Rewrite { arguments, note } => Answer {
            body: Some(json!({ "modifiedArgs": arguments })),
            aside: note.clone(),
            ..Answer::default()
        },
        // After a failed tool, Copilot passes only standard error to the model, and only with this status.
        Decision::Proceed {
            context: Some(context), ..
        } if event.ends_with("ToolUseFailure") => Answer {
            body: None,
            status: 2,
            aside: Some(context.clone()),
        },
        Decision::Proceed { context, note } => Answer {
            body: context.as_ref().map(|context| with_context(event, context)),
            aside: note.clone(),
            ..Answer::default()
        },
    }
}

/// Copilot CLI reads the first field and ignores the second; VS Code, which runs these hooks too, does the opposite.
fn with_context(event: &str, context: &str) -> Value {
    let mut name = event.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    json!({
        "additionalContext": context,
        "hookSpecificOutput": { "hookEventName": name, "additionalContext": context },
    })
}

//! Copilot CLI: <https://docs.github.com/en/copilot/reference/hooks-reference>. JSON or any exit status but zero denies
//! a tool; only a timeout lets it run. Events whose names begin with a capital have other names of fields and tools.
//! Output for a prompt is dropped. VS Code's own agent runs the same hooks, with the fields of the capitalized events.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision, Moment, Tool};
use super::form::Form;
use super::{fields, table};

/// The field with the arguments of a tool, by the names of both families of events.
const ARGUMENT_FIELDS: &[&str] = &["toolArgs", "tool_input"];

pub(super) const FORM: Form = Form {
    agent: "copilot",
    rows: &table::COPILOT,
    conversation_fields: &["sessionId", "session_id"],
    writer_fields: &[],
    takes_arguments: true,
    argument_fields: ARGUMENT_FIELDS,
    name_fields: &["toolName", "tool_name"],
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
    let arguments = || fields::arguments(call, ARGUMENT_FIELDS);
    match name {
        "str_replace_editor" if fields::text(&arguments(), &["command"]).as_deref() == Some("view") => {
            Some(Ok(fields::read_tool(&arguments())))
        }
        // For these events, a patch is named like an edit.
        "Edit" if fields::edit_tool(name, &arguments()).is_err() => Some(fields::patch_tool(name, &arguments())),
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
            // Copilot still reads the JSON. The status denies the tool even if it does not understand the JSON.
            status: 2,
            stderr: Some(reason.clone()),
        },
        Decision::Continue { reason, note } => Answer {
            stderr: note.clone(),
            ..Answer::json(json!({ "decision": "block", "reason": reason }))
        },
        Decision::Rewrite { arguments, note } => Answer {
            stderr: note.clone(),
            ..Answer::json(json!({ "modifiedArgs": arguments }))
        },
        // After a failed tool, Copilot passes only standard error to the model, and only with this status.
        Decision::Proceed {
            context: Some(context), ..
        } if event.ends_with("ToolUseFailure") => Answer {
            body: None,
            status: 2,
            stderr: Some(context.clone()),
        },
        Decision::Proceed { context, note } => Answer {
            body: context.as_ref().map(|context| context_body(event, context)),
            stderr: note.clone(),
            ..Answer::default()
        },
    }
}

/// Copilot CLI reads the first field and ignores the second. VS Code, which runs these hooks too, does the opposite.
fn context_body(event: &str, context: &str) -> Value {
    let mut name = event.to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    json!({
        "additionalContext": context,
        "hookSpecificOutput": { "hookEventName": name, "additionalContext": context },
    })
}

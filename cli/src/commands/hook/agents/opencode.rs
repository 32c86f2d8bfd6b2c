//! OpenCode: <https://opencode.ai/docs/plugins>. It has no hooks that run programs; a plugin of Coord's calls this one, in a form of
//! its own, and throws where a tool is denied.

use serde_json::{Value, json};

use super::super::event::{Answer, Decision, Moment, Tool};
use super::{Form, fields};

/// The plugin, for `.opencode/plugins/coord.js`.
pub const PLUGIN: &str = include_str!("opencode_plugin.js");

pub(super) const FORM: Form = Form {
    name: "opencode",
    events: &[
        ("session.created", Moment::SessionStart),
        ("chat.message", Moment::Prompt),
        ("tool.execute.before", Moment::BeforeTool),
        ("tool.execute.after", Moment::AfterTool),
        ("session.idle", Moment::TurnEnd),
        ("session.deleted", Moment::SessionEnd),
    ],
    conversation: &["sessionID"],
    has_many_conversations: true,
    tool,
    takes_context: |event, _| event == "chat.message",
    answer,
    denies_by_any_status: false,
};

fn tool(_: &str, call: &Value) -> Result<Tool, String> {
    let arguments = fields::arguments(call, &["args"]);
    let name = fields::text(call, &["tool"]).ok_or("the hook's input names no tool")?;
    match name.as_str() {
        "edit" | "write" | "multiedit" => fields::edit(&name, &arguments),
        "patch" | "apply_patch" => fields::patch(&name, &arguments),
        "bash" => Ok(fields::shell(&arguments)),
        _ => Ok(Tool::Other),
    }
}

fn answer(_: &str, decision: &Decision) -> Answer {
    let body = match decision {
        Decision::Deny { reason } => json!({ "deny": reason }),
        Decision::Proceed { context, note } => json!({ "context": context, "note": note }),
    };
    Answer {
        body: Some(body),
        ..Answer::default()
    }
}

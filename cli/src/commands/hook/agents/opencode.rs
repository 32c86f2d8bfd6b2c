//! OpenCode: <https://opencode.ai/docs/plugins>. It has no hooks that run programs; a plugin of Coord's calls this one, in a form of
//! its own, and throws where a tool is denied.

use serde_json::json;

use super::super::event::{Answer, Decision};
use super::{Form, table};

/// The plugin, for `.opencode/plugins/coord.js`.
pub const PLUGIN: &str = include_str!("opencode_plugin.js");

pub(super) const FORM: Form = Form {
    agent: "opencode",
    rows: &table::OPENCODE,
    conversation: &["sessionID"],
    writer: &["agent_id"],
    takes_arguments: true,
    arguments: &["args"],
    name: &["tool"],
    exception: |_, _, _| None,
    takes_context: |event, _| matches!(event, "chat.message" | "tool.execute.after"),
    has_failed: |_| false,
    answer,
    denies_by_any_status: false,
};

fn answer(_: &str, decision: &Decision) -> Answer {
    let body = match decision {
        Decision::Deny { reason } => json!({ "deny": reason }),
        Decision::GoOn { reason, note } => json!({ "goOn": reason, "note": note }),
        Decision::Rewrite { arguments, note } => json!({ "args": arguments, "note": note }),
        Decision::Proceed { context, note } => json!({ "context": context, "note": note }),
    };
    Answer {
        body: Some(body),
        ..Answer::default()
    }
}

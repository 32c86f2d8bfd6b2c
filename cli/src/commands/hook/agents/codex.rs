//! Codex: <https://developers.openai.com/codex/hooks>, and the schemas in `codex-rs/hooks/schema` of its repository. The answers are
//! those of Claude Code, but `ask` and `allow` without new arguments are rejected, and the tool runs; neither is ever sent. Edits
//! are patches: the tool is `apply_patch` also where a matcher says `Edit` or `Write`.

use serde_json::Value;

use super::super::event::{Moment, Tool};
use super::{Form, claude_code, fields};

pub(super) const FORM: Form = Form {
    name: "codex",
    events: claude_code::FORM.events,
    conversation: &["session_id"],
    has_many_conversations: false,
    tool,
    takes_context: |_, moment| !matches!(moment, Moment::TurnEnd | Moment::SessionEnd),
    answer: claude_code::answer,
    denies_by_any_status: false,
};

fn tool(_: &str, call: &Value) -> Result<Tool, String> {
    let arguments = fields::arguments(call, &["tool_input"]);
    let name = fields::text(call, &["tool_name"]).ok_or("the hook's input names no tool")?;
    match name.as_str() {
        "apply_patch" | "Edit" | "Write" => fields::patch(&name, &arguments),
        "Bash" => Ok(fields::shell(&arguments)),
        _ => Ok(Tool::Other),
    }
}

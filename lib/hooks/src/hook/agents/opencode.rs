//! OpenCode: <https://opencode.ai/docs/plugins>. It has no hooks that run programs. Coord's plugin calls `coord hook`
//! in a custom form, and throws if a tool is denied.

use std::sync::LazyLock;

use serde_json::json;

use super::super::event::{Answer, Decision};
use super::form::Form;
use super::table;

/// The plugin, for `.opencode/plugins/coord.js`.
pub const PLUGIN: &str = include_str!("opencode_plugin.js");

/// The plugin of `coord init --strict`: if there is no `coord`, it denies tools that may change something.
pub static STRICT_PLUGIN: LazyLock<String> =
    LazyLock::new(|| PLUGIN.replace("const IS_REQUIRED = false;", "const IS_REQUIRED = true;"));

pub(super) const FORM: Form = Form {
    agent: "opencode",
    rows: &table::OPENCODE,
    conversation_fields: &["sessionID"],
    writer_fields: &["agent_id"],
    takes_arguments: true,
    argument_fields: &["args"],
    name_fields: &["tool"],
    exception: |_, _, _| None,
    takes_context: |event, _| matches!(event, "chat.message" | "tool.execute.after"),
    has_failed: |_| false,
    answer,
    denies_by_any_status: false,
};

fn answer(_: &str, decision: &Decision) -> Answer {
    Answer::json(match decision {
        Decision::Deny { reason } => json!({ "deny": reason }),
        Decision::Continue { reason, note } => json!({ "goOn": reason, "note": note }),
        Decision::Rewrite { arguments, note } => json!({ "args": arguments, "note": note }),
        Decision::Proceed { context, note } => json!({ "context": context, "note": note }),
    })
}

#[cfg(test)]
mod tests {
    use super::table::ToolEffect;
    use super::*;

    #[test]
    fn the_plugin_knows_the_tools_that_only_read() {
        let (_, after) = PLUGIN.split_once("const READING = new Set([").unwrap();
        let (listed, _) = after.split_once("]);").unwrap();
        let listed: Vec<&str> = listed.split(',').map(|name| name.trim().trim_matches('"')).collect();
        let reading = table::OPENCODE.tools.iter();
        let reading = reading.filter(|(effect, _)| matches!(effect, ToolEffect::Reads | ToolEffect::ReadsFile));
        let mut reading: Vec<&str> = reading.flat_map(|(_, names)| names.iter().copied()).collect();
        reading.sort_unstable();
        assert_eq!(listed[..reading.len()], reading);
        assert_eq!(listed[reading.len()..], [""]);
    }

    #[test]
    fn the_strict_plugin_differs_from_the_default_one() {
        assert_ne!(*STRICT_PLUGIN, PLUGIN);
    }
}

//! The form of one agent's events, tools and answers.

use serde_json::Value;

use super::super::event::{Answer, Decision, Moment, Tool};
use super::table::{self, ToolEffect};
use super::{fields, own_tools};

/// The form of one agent. If several fields are listed, the first one that the JSON has counts.
pub(super) struct Form {
    /// Its name, which begins the ids of its sessions.
    pub(super) agent: &'static str,
    /// Its events and tools, by its own names.
    pub(super) rows: &'static table::Rows,
    /// The field that names the conversation.
    pub(super) conversation_fields: &'static [&'static str],
    /// The field that names the writer within the conversation: a subagent or teammate. Empty if the agent names none.
    pub(super) writer_fields: &'static [&'static str],
    /// Whether a hook may change the arguments of a tool.
    pub(super) takes_arguments: bool,
    /// The field that names a tool.
    pub(super) name_fields: &'static [&'static str],
    /// The field with the arguments of a tool.
    pub(super) argument_fields: &'static [&'static str],
    /// A tool that the table alone cannot classify.
    pub(super) exception: fn(event: &str, name: &str, call: &Value) -> Option<Result<Tool, String>>,
    /// Whether it passes text from this event to its model.
    pub(super) takes_context: fn(event: &str, moment: Moment) -> bool,
    /// Whether the tool has failed, if the name of the event does not say so.
    pub(super) has_failed: fn(call: &Value) -> bool,
    /// A decision in its form.
    pub(super) answer: fn(event: &str, decision: &Decision) -> Answer,
    /// Whether every exit status but zero denies a tool, and not only 2.
    pub(super) denies_by_any_status: bool,
}

impl Form {
    /// The tool of a call, and its arguments.
    pub(super) fn tool(&self, event: &str, call: &Value) -> Result<(Tool, Value), String> {
        let arguments = fields::arguments(call, self.argument_fields);
        let name = fields::text(call, self.name_fields);
        if let Some(tool) = (self.exception)(event, name.as_deref().unwrap_or_default(), call) {
            let input = if arguments.is_null() { call.clone() } else { arguments };
            return Ok((tool?, input));
        }
        let name = name.ok_or("the hook's input names no tool")?;
        let tool = match self.rows.tool(&name) {
            Some(ToolEffect::Reads) => Tool::ReadOnly,
            Some(ToolEffect::ReadsFile) => fields::read_tool(&arguments),
            Some(ToolEffect::Edits) => fields::edit_tool(&name, &arguments)?,
            Some(ToolEffect::Patches) => fields::patch_tool(&name, &arguments)?,
            Some(ToolEffect::Shell) => fields::shell_tool(&arguments),
            Some(ToolEffect::PowerShell) => fields::power_shell_tool(&arguments),
            None => own_tools::find(&name).map_or(Tool::Unknown, Tool::Coord),
        };
        Ok((tool, arguments))
    }
}

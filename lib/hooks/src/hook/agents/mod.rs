//! The forms in which agents call hooks and understand answers: one file for each agent.

mod claude_code;
mod codex;
mod copilot;
mod cursor;
mod fields;
mod form;
mod gemini;
mod opencode;
mod own_tools;
pub(super) mod patch;
mod table;

use clap::ValueEnum;
use serde_json::Value;

pub use opencode::{PLUGIN, STRICT_PLUGIN};
pub use patch::patched_files;

use super::event::{Answer, Decision, HookCall, Moment, Tool};
use form::Form;
use table::ToolEffect;

/// An agent whose hooks Coord understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Agent {
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// Gemini CLI
    Gemini,
    /// Copilot CLI
    Copilot,
    /// OpenCode, by the plugin of Coord
    #[value(name = "opencode")]
    OpenCode,
}

/// The file that the arguments of a tool name.
pub(super) fn path_in(arguments: &Value) -> Option<String> {
    fields::text(arguments, fields::PATH_FIELDS)
}

impl Agent {
    fn form(self) -> &'static Form {
        match self {
            Agent::ClaudeCode => &claude_code::FORM,
            Agent::Codex => &codex::FORM,
            Agent::Cursor => &cursor::FORM,
            Agent::Gemini => &gemini::FORM,
            Agent::Copilot => &copilot::FORM,
            Agent::OpenCode => &opencode::FORM,
        }
    }

    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        self.form().agent
    }

    /// Its events that have hooks, by its own names.
    pub fn events(self) -> impl Iterator<Item = (&'static str, Moment)> {
        self.form().rows.events.iter().copied()
    }

    /// When it sends `event`. `None` if it has no such event, or if the event does not concern files.
    pub fn moment(self, event: &str) -> Option<Moment> {
        self.events().find(|(name, _)| *name == event).map(|(_, moment)| moment)
    }

    /// The event with which it ends its turn.
    pub fn end_of_turn(self) -> Option<&'static str> {
        self.events()
            .find(|(_, moment)| *moment == Moment::TurnEnd)
            .map(|(name, _)| name)
    }

    /// Whether it names the calling writer within the conversation.
    pub fn names_writers(self) -> bool {
        !self.form().writer_fields.is_empty()
    }

    /// Whether a hook may change the arguments of a tool.
    pub fn takes_arguments(self) -> bool {
        self.form().takes_arguments
    }

    /// Whether a hook may add variables to the environment of its shell.
    pub fn takes_environment(self) -> bool {
        self.events().any(|(_, moment)| moment == Moment::Environment)
    }

    /// Whether it passes text from `event` to its model.
    pub fn takes_context(self, event: &str) -> bool {
        self.moment(event)
            .is_some_and(|moment| (self.form().takes_context)(event, moment))
    }

    /// Parses `call`, which the agent sends with `event`.
    ///
    /// # Errors
    /// A sentence, when it does not have the agent's form.
    pub fn parse(self, event: &str, call: &Value) -> Result<HookCall, String> {
        let Some(moment) = self.moment(event) else {
            let names: Vec<&str> = self.events().map(|(name, _)| name).collect();
            return Err(format!(
                "{} has no event {event:?} that Coord has a hook for; there are {}",
                self.name(),
                names.join(", ")
            ));
        };
        if !call.is_object() {
            return Err("the hook's input is not a JSON object".to_owned());
        }
        let form = self.form();
        let (tool, input) = match moment {
            Moment::BeforeTool => form.tool(event, call)?,
            // It has run already, so an unknown tool is no error.
            Moment::AfterTool => form.tool(event, call).unwrap_or((Tool::Unknown, Value::Null)),
            _ => (Tool::ReadOnly, Value::Null),
        };
        let writer = fields::text(call, form.writer_fields);
        let moment = match moment {
            Moment::TurnEnd if writer.is_some() => Moment::WriterEnd,
            moment => moment,
        };
        Ok(HookCall {
            moment,
            folder: fields::text(call, &["cwd"]).or_else(|| fields::first_text(call, "workspace_roots")),
            conversation: fields::text(call, form.conversation_fields),
            writer,
            prompt: fields::prompt(call),
            tool_name: fields::text(call, form.name_fields).unwrap_or_else(|| event.to_owned()),
            tool,
            input,
            has_failed: moment == Moment::AfterTool && (event.ends_with("Failure") || (form.has_failed)(call)),
            has_background_work: fields::has_members(call, "background_tasks"),
            is_continued: call["stop_hook_active"] == true
                || call["loop_count"].as_u64().is_some_and(|count| count > 0),
            notification: fields::text(call, &["notification_type", "notificationType"]),
            model: fields::text(call, &["model"]),
            transcript: fields::text(call, &["transcript_path", "transcriptPath"]),
        })
    }

    /// Whether a hook with invalid input may succeed, because nothing can be denied: after a tool, or before a tool in
    /// `fields` that only reads.
    pub fn changes_nothing(self, event: &str, fields: &Value) -> bool {
        let form = self.form();
        let is_read_only = |name: String| {
            matches!(form.rows.tool(&name), Some(ToolEffect::Reads | ToolEffect::ReadsFile))
                || own_tools::find(&name).is_some()
        };
        match self.moment(event) {
            Some(Moment::BeforeTool) => fields::text(fields, form.name_fields).is_some_and(is_read_only),
            moment => moment == Some(Moment::AfterTool),
        }
    }

    /// `decision` in its form.
    pub fn answer(self, event: &str, decision: &Decision) -> Answer {
        (self.form().answer)(event, decision)
    }

    /// The exit status if the hook fails. It denies the tool of `event` if `is_closed`, and otherwise lets it run.
    pub fn status_of_failure(self, event: &str, is_closed: bool) -> u8 {
        let is_before = self.moment(event) == Some(Moment::BeforeTool);
        match (is_before, is_closed) {
            (true, true) => 2,
            (true, false) if self.form().denies_by_any_status => 0,
            // Agents report this status as a failure of the hook, and continue.
            _ => 1,
        }
    }
}

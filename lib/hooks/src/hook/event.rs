//! Events, tools and decisions, in a form that the hooks of all agents share.

use coord_protocol::tool_names;
use serde_json::Value;

/// When an agent calls a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A session begins or is resumed.
    SessionStart,
    /// The model's knowledge of the session was condensed to a summary.
    Compaction,
    /// The user has sent a prompt.
    Prompt,
    /// A tool is about to run, and can be denied.
    BeforeTool,
    /// A tool has run.
    AfterTool,
    /// The agent has finished its turn.
    TurnEnd,
    /// The user has interrupted the turn: no text goes to the model, and nothing asks it to continue.
    Interruption,
    /// A writer of the conversation begins: a subagent or teammate.
    WriterStart,
    /// The session is idle, and can be woken.
    Idle,
    /// A writer of the conversation has finished: a subagent or teammate.
    WriterEnd,
    SessionEnd,
    /// The shell of a command is about to start, and accepts variables.
    Environment,
}

impl Moment {
    /// Whether a turn, a writer or the session ends.
    pub fn is_end(self) -> bool {
        matches!(
            self,
            Moment::TurnEnd | Moment::Interruption | Moment::WriterEnd | Moment::SessionEnd
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    pub moment: Moment,
    /// The folder in which the agent works.
    pub folder: Option<String>,
    /// The agent's name for the conversation.
    pub conversation: Option<String>,
    /// The agent's name for the writer within the conversation: a subagent or teammate. `None` for the lead.
    pub writer: Option<String>,
    pub prompt: Option<String>,
    pub tool: Tool,
    /// The agent's name for the tool.
    pub tool_name: String,
    /// The arguments of the tool.
    pub input: Value,
    /// Whether the tool has failed, according to the event or the tool's result.
    pub has_failed: bool,
    /// Whether work of the conversation continues in the background after the turn.
    pub has_background_work: bool,
    /// Whether a hook has started the turn that ends, according to the agent.
    pub is_continued: bool,
    /// The agent's name for the kind of notification.
    pub notification: Option<String>,
    /// The model, if the agent names it.
    pub model: Option<String>,
    /// The file in which the agent stores the conversation.
    pub transcript: Option<String>,
}

impl HookCall {
    /// Whether the tool is one of Coord's that return messages.
    pub fn has_read_messages(&self) -> bool {
        matches!(
            self.tool,
            Tool::Coord(tool_names::MESSAGE_READ | tool_names::READ_MESSAGES | tool_names::POLL_INBOX)
        )
    }
}

/// A tool, by its effect on files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// It writes these files, absolute or relative to the folder of the call.
    Edit(Vec<String>),
    /// It runs a shell command, in another folder if it names one.
    Shell { command: String, folder: Option<String> },
    /// It gives a file to the model. The path is absolute or relative to the folder of the call.
    Read(Option<String>),
    /// It changes no file.
    ReadOnly,
    /// It is this tool of Coord's own MCP server.
    Coord(&'static str),
    /// It is unknown, so it may change anything.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The agent continues.
    Proceed {
        /// Context for the model.
        context: Option<String>,
        /// A note for the user.
        note: Option<String>,
    },
    /// The tool runs, with arguments that also name its holder.
    Rewrite {
        arguments: Value,
        /// A note for the user.
        note: Option<String>,
    },
    /// The agent has ended its turn, and is asked to begin another one.
    Continue {
        /// The waiting messages or the ready task.
        reason: String,
        /// A note for the user.
        note: Option<String>,
    },
    /// The tool must not run.
    Deny {
        /// The reason, and the next step.
        reason: String,
    },
}

impl Decision {
    /// The agent continues, with nothing to report.
    pub const PROCEED: Decision = Decision::Proceed {
        context: None,
        note: None,
    };
}

/// A decision in the form of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// JSON for standard output.
    pub body: Option<Value>,
    pub status: u8,
    /// Text for standard error, because no field of the JSON has room for it.
    pub stderr: Option<String>,
}

impl Answer {
    /// JSON alone.
    pub fn json(body: Value) -> Answer {
        Answer {
            body: Some(body),
            ..Answer::default()
        }
    }
}

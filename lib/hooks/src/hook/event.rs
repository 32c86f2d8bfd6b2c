//! Common to the hooks of all agents: events, tools, and decisions.

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
    /// The user has stopped the turn: no text goes to the model, and nothing asks it to go on.
    Interruption,
    /// A writer of the conversation begins: a subagent or teammate.
    WriterStart,
    /// The session does nothing, and can be woken.
    Idle,
    /// A writer of the conversation has finished: a subagent or teammate.
    WriterEnd,
    SessionEnd,
    /// The shell of a command is about to be started, and takes variables.
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

/// A call of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCall {
    /// When.
    pub moment: Moment,
    /// The folder that the agent works in.
    pub folder: Option<String>,
    /// The agent's own name of the conversation.
    pub conversation: Option<String>,
    /// The agent's own name of the writer within it: a subagent or teammate. `None` for the lead.
    pub writer: Option<String>,
    pub prompt: Option<String>,
    pub tool: Tool,
    /// The agent's name for it.
    pub tool_name: String,
    /// Its arguments, where it has any.
    pub input: Value,
    /// Whether the tool has failed, as the event or its result says.
    pub has_failed: bool,
    /// Whether work of the conversation goes on in the background after the turn that ends.
    pub has_background_work: bool,
    /// Whether the turn that ends was begun by a hook, as the agent says.
    pub is_continued: bool,
    /// The kind of notification, in the agent's own terms.
    pub notification: Option<String>,
    /// The model, where the agent says it.
    pub model: Option<String>,
    /// The file in which the agent keeps the conversation.
    pub transcript: Option<String>,
}

impl HookCall {
    /// Whether the tool is one of Coord's that answers with messages.
    pub fn has_read_messages(&self) -> bool {
        matches!(
            self.tool,
            Tool::Own(tool_names::MESSAGE_READ | tool_names::READ_MESSAGES | tool_names::POLL_INBOX)
        )
    }
}

/// A tool, as far as it concerns files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tool {
    /// It writes these files, absolute or relative to the folder of the call.
    Edit(Vec<String>),
    /// It runs a shell command, in another folder if it names one.
    Shell { command: String, folder: Option<String> },
    /// It hands a file to the model, by its path, absolute or relative to the folder of the call.
    Read(Option<String>),
    /// It changes no file.
    Reads,
    /// It is this one of Coord's own MCP server.
    Own(&'static str),
    /// Nothing is known of it: it may change anything.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The agent goes on.
    Proceed {
        /// Context for the model.
        context: Option<String>,
        /// A note for the user.
        note: Option<String>,
    },
    /// The tool runs, with arguments that also name its holder.
    Rewrite {
        /// All of its arguments.
        arguments: Value,
        /// A note for the user.
        note: Option<String>,
    },
    /// The agent has ended its turn, and is asked to begin another one.
    GoOn {
        /// The reason, and the blocking locks.
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
    /// The agent goes on, with nothing to say.
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
    /// Text that no field of the form has room for; it goes to standard error.
    pub aside: Option<String>,
}

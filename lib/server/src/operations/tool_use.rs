//! The tool call that a request is for, and the agent's session.

use coord_protocol::{AgentSession, ToolCall};

use crate::app::App;
use crate::error::ApiError;

/// A tool call that may change something, and the origin of the records about it. Only the gate reads it.
#[derive(Clone, Debug, Default)]
pub struct ToolUse {
    /// Name of the tool; empty where there is no call.
    pub tool: String,
    /// Digest of the tool and its input; empty where there is no call.
    pub digest: String,
    /// As scripts take it.
    pub origin: String,
}

impl ToolUse {
    /// # Errors
    /// When a text is missing or too long.
    pub fn parse(app: &App, call: Option<&ToolCall>, session: Option<&AgentSession>) -> Result<Self, ApiError> {
        match app.extensions.gate() {
            Some(gate) => gate.tool_use(call, session),
            None => Ok(ToolUse::default()),
        }
    }
}

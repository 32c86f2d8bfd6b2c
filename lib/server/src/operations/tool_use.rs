//! The tool call that a request is for, and the agent's session.

use coord_protocol::{AgentSession, ToolCall};

use crate::app::App;
use crate::error::ApiError;
use crate::extension::ToolUse;

/// Parses the tool call for the gate.
///
/// # Errors
/// When a text is missing or too long.
pub fn parse_tool_use(app: &App, call: Option<&ToolCall>, session: Option<&AgentSession>) -> Result<ToolUse, ApiError> {
    match app.extensions.gate() {
        Some(gate) => gate.tool_use(call, session),
        None => Ok(ToolUse::default()),
    }
}

//! The tool call that a request is for, and the agent's session.

use coord_protocol::{AgentSession, ToolCall};

use super::intents::{counted_call, origin::origin};
use crate::error::ApiError;

/// A tool call that may change something, and the origin of lines of the ledger about it.
#[derive(Clone, Debug)]
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
    pub fn parse(call: Option<&ToolCall>, session: Option<&AgentSession>) -> Result<Self, ApiError> {
        let (tool, digest) = call.map(counted_call).transpose()?.unwrap_or_default();
        Ok(ToolUse {
            tool,
            digest,
            origin: origin(session)?,
        })
    }
}

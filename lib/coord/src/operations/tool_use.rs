//! What a request says of the tool call that it is for, and of the agent's session.

use coord_intents::ledger::blank_credentials;
use coord_protocol::{AgentSession, ToolCall};

use super::intents::origin::{bounded, origin};
use crate::error::ApiError;
use crate::store::script::sha1_hex;

/// A tool call that may change something, and the origin of lines of the ledger about it.
#[derive(Clone, Debug)]
pub(crate) struct ToolUse {
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
        let (mut tool, mut digest) = (String::new(), String::new());
        if let Some(call) = call {
            tool = blank_credentials(&bounded("tool_call", &call.name)?).into_owned();
            let input = bounded("tool_call", &call.digest)?;
            if tool.is_empty() || input.is_empty() {
                return Err(ApiError::InvalidField {
                    field: "tool_call",
                    problem: "needs the name of the tool, and a digest of its input".to_owned(),
                });
            }
            digest = sha1_hex(&format!("{tool}\n{input}"));
        }
        Ok(ToolUse {
            tool,
            digest,
            origin: origin(session)?,
        })
    }
}

//! A tool's answer.

use coord_protocol::plain_text::visible_text;
use coord_protocol::team_tools::TeamCall;
use rmcp::model::{CallToolResult, ContentBlock};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCodeAnswer {
    /// The plugin's result as JSON, then sentences that it has no field for.
    pub(super) texts: Vec<String>,
    /// The request that confirms the messages of this answer, for when the caller has received them.
    pub proof: Option<Box<TeamCall>>,
}

impl OpenCodeAnswer {
    pub(super) fn new(result: String) -> Self {
        OpenCodeAnswer {
            texts: vec![result],
            proof: None,
        }
    }

    pub(super) fn with(mut self, notes: impl IntoIterator<Item = String>) -> Self {
        self.texts.extend(notes);
        self
    }

    /// The answer for the MCP client.
    pub fn result(&self) -> CallToolResult {
        CallToolResult::success(
            self.texts
                .iter()
                .map(|text| ContentBlock::text(visible_text(text)))
                .collect(),
        )
    }
}

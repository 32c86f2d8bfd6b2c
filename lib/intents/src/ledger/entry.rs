use serde::{Deserialize, Serialize};

use super::content::ContentHash;
use super::input::ToolInput;
use super::terms::{ActionType, ResultStatus, State};
use super::timestamp::Timestamp;
use super::trace_id::TraceId;

/// The most bytes of a line that Coord writes, with its `chain` and its newline.
pub const LINE_BYTES: usize = 8 * 1024;

/// A ledger line by Coord, without its `chain`. The order of the members is that of the original data model and of the
/// bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// When the store recorded it.
    pub timestamp: Timestamp,
    /// The verified login; if there is an agent id, a slash and the id follow.
    pub agent_id: String,
    /// The intent that it belongs to.
    #[serde(deserialize_with = "Option::deserialize")]
    pub intent_id: Option<String>,
    /// The holder's state before the event.
    pub state: State,
    /// Kind of the event.
    pub action_type: ActionType,
    /// The tool and its input.
    pub payload: Payload,
    /// How it ended.
    pub result: Outcome,
    /// The agent's data about itself.
    pub metadata: Metadata,
    /// The id of the event.
    pub trace_id: TraceId,
}

/// The member `payload`. Empty members are left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Payload {
    /// The tool that was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Its input as recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_input: Option<ToolInput>,
    /// The files, from the root of the repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_files: Vec<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The content afterwards; required if a file was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<ContentHash>,
}

/// The member `result`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// How it ended.
    pub status: ResultStatus,
    /// One line about it.
    pub output_summary: String,
    /// Why it failed or was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
}

/// The member `metadata`: asserted by the agent, not verified.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    /// The session of the agent.
    pub session_id: String,
    pub contributor: String,
    /// `AST_REFACTOR` or `INTENT_EVOLUTION`, if the caller sends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation_class: Option<String>,
}

/// Why bytes are not a line by Coord.
#[derive(Debug, thiserror::Error)]
pub enum InvalidEntry {
    /// It is longer than any line that Coord writes.
    #[error("the line has more than {LINE_BYTES} bytes")]
    TooLong,
    /// It is not JSON, or does not have the members and values of a line.
    #[error("not a line by Coord: {0}")]
    Members(#[from] serde_json::Error),
    /// The members are right, but not their order, spaces or escapes.
    #[error("not the bytes that Coord writes")]
    OtherBytes,
}

impl Entry {
    /// Parses a line by Coord, sealed or not, without its newline. It must have exactly the bytes that Coord writes.
    pub fn parse(line: &[u8]) -> Result<Self, InvalidEntry> {
        if line.len() >= LINE_BYTES {
            return Err(InvalidEntry::TooLong);
        }
        let body = match super::split(line) {
            Some(sealed) => &[sealed.body, b"}"].concat(),
            None => line,
        };
        let entry: Entry = serde_json::from_slice(body)?;
        if entry.text().as_bytes() == body {
            Ok(entry)
        } else {
            Err(InvalidEntry::OtherBytes)
        }
    }

    /// The bytes of the line without its `chain`.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers")
    }
}

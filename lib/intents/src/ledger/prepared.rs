use serde::Serialize;

use super::chain::CHAIN_BYTES;
use super::credentials::blank_credentials;
use super::entry::{LINE_BYTES, Metadata, Outcome, Payload};
use super::terms::{ActionType, State};
use super::timestamp::Timestamp;
use super::trace_id::TraceId;

/// The most bytes of the members that a script fills in, with the names of all members.
const ENVELOPE_BYTES: usize = 1024;

/// The parts of an event that are known before the call of the store.
#[derive(Clone, Debug)]
pub struct Event {
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

/// The texts of a line, already escaped, which a script only joins. The script cannot encode JSON itself, because the
/// encoder in Redis does not keep the order of members.
///
/// [`PreparedLine::join`] does the same in Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedLine {
    /// The escaped part of `agent_id` after the login: a slash and the agent's id, or empty.
    pub agent: String,
    /// The value of `action_type`.
    pub action_type: ActionType,
    /// `payload`, as JSON.
    pub payload: String,
    /// `result`, as JSON.
    pub result: String,
    /// The members `metadata` and `trace_id`.
    pub origin: String,
}

/// An event does not fit into a line, because a path or a name is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event does not fit into a line of {LINE_BYTES} bytes")]
pub struct LineTooLong;

/// A line without its `chain` and its newline, within [`LINE_BYTES`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line(String);

impl Line {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Event {
    /// Writes the known parts of the line, with credentials blanked. If the line is too long, the tool's input becomes
    /// its hash and length. If that is not enough, texts are truncated.
    pub fn prepare(mut self, agent: Option<&str>) -> Result<PreparedLine, LineTooLong> {
        for text in self.texts() {
            *text = blank_credentials(text).into_owned();
        }
        let mut prepared = self.write(agent);
        if prepared.excess() > 0
            && let Some(input) = &mut self.payload.tool_input
        {
            *input = input.as_hash();
            prepared = self.write(agent);
        }
        for index in 0..self.texts().len() {
            let excess = prepared.excess();
            if excess > 0 {
                shorten(self.texts().remove(index), excess);
                prepared = self.write(agent);
            }
        }
        if prepared.excess() > 0 {
            Err(LineTooLong)
        } else {
            Ok(prepared)
        }
    }

    /// The texts that may be shortened, the least important first.
    fn texts(&mut self) -> Vec<&mut String> {
        let optional = [&mut self.payload.reasoning, &mut self.result.error_message];
        [&mut self.result.output_summary]
            .into_iter()
            .chain(optional.into_iter().flatten())
            .collect()
    }

    fn write(&self, agent: Option<&str>) -> PreparedLine {
        let agent = agent.map(|agent| json(&format!("/{agent}"))).unwrap_or_default();
        PreparedLine {
            agent: agent
                .trim_start_matches('"')
                .strip_suffix('"')
                .unwrap_or_default()
                .to_owned(),
            action_type: self.action_type,
            payload: json(&self.payload),
            result: json(&self.result),
            origin: format!(
                "\"metadata\":{},\"trace_id\":{}",
                json(&self.metadata),
                json(&self.trace_id)
            ),
        }
    }
}

/// Cuts at least `excess` bytes, and marks the cut with an ellipsis.
fn shorten(text: &mut String, excess: usize) {
    const ELLIPSIS: &str = "…";
    let mut end = text.len().saturating_sub(excess + ELLIPSIS.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    if end > 0 {
        text.push_str(ELLIPSIS);
    }
}

impl PreparedLine {
    fn excess(&self) -> usize {
        let bytes = self.agent.len() + self.payload.len() + self.result.len() + self.origin.len();
        (bytes + ENVELOPE_BYTES + CHAIN_BYTES + 1).saturating_sub(LINE_BYTES)
    }

    /// The whole line, with the values that a script fills in.
    pub fn join(
        &self,
        timestamp: Timestamp,
        login: &str,
        intent: Option<&str>,
        state: State,
    ) -> Result<Line, LineTooLong> {
        let login = json(login);
        let line = format!(
            "{{\"timestamp\":\"{timestamp}\",\"agent_id\":{}{}\",\"intent_id\":{},\"state\":\"{}\",\"action_type\":\"{}\",\
             \"payload\":{},\"result\":{},{}}}",
            &login[..login.len() - 1],
            self.agent,
            json(&intent),
            state.as_str(),
            self.action_type.as_str(),
            self.payload,
            self.result,
            self.origin,
        );
        if line.len() + CHAIN_BYTES < LINE_BYTES {
            Ok(Line(line))
        } else {
            Err(LineTooLong)
        }
    }
}

fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).expect("texts and numbers")
}

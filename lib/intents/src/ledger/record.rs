use serde_json::Value;

use super::chain::split;
use super::entry::Entry;
use super::verify::MAX_LINE_BYTES;

/// A line for display: of Coord, or of another program whose lines mean the same. Absent fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Record {
    /// Whether another program wrote it.
    pub is_foreign: bool,
    /// The number in the chain, where the line is sealed. Only [`super::verify()`] says whether it is right.
    pub seq: Option<u64>,
    /// The time, as the line has it.
    pub timestamp: String,
    /// The actor; `actor` in others' lines.
    pub agent_id: String,
    pub intent_id: Option<String>,
    /// Other intents or requirements, which only others' lines have.
    pub related: Vec<String>,
    /// The state, in others' lines also with other values.
    pub state: String,
    /// Kind of the event, in others' lines also with other values.
    pub action_type: String,
    pub tool_name: String,
    /// The files; `ranges.file` in others' lines.
    pub target_files: Vec<String>,
    /// First and last line of the change in others' lines; -1 is the end of the file.
    pub lines: Option<(i64, i64)>,
    /// The content afterwards; `ranges.content_hash` or `result.content_hash` in others' lines. It may be cut short.
    pub hash: String,
    /// Why.
    pub reasoning: String,
    /// How it ended, in others' lines also with other values.
    pub status: String,
    /// One line about it; `summary` in others' lines.
    pub output_summary: String,
    /// Why it failed or was refused.
    pub error_message: String,
    pub session_id: String,
    /// The model; `contributor.model_identifier` in others' lines.
    pub contributor: String,
    /// The class of the change.
    pub mutation_class: String,
    /// The id of the event.
    pub trace_id: String,
}

/// Why a line cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableLine {
    /// It is longer than the format allows.
    #[error("the line has more than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// It is no JSON, or too deep.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON, and no object.
    #[error("the line is not a JSON object")]
    NoObject,
}

impl Record {
    /// Reads any line, without its newline. Members may have any order.
    pub fn read(line: &[u8]) -> Result<Self, UnreadableLine> {
        if line.len() > MAX_LINE_BYTES {
            return Err(UnreadableLine::TooLong);
        }
        let value: Value = serde_json::from_slice(line)?;
        if !value.is_object() {
            return Err(UnreadableLine::NoObject);
        }
        let text = |paths: &[&str]| texts(&value, paths).into_iter().next().unwrap_or_default();
        let number = |path: &str| {
            value
                .pointer(path)
                .or(value.pointer(&path.replace("/ranges/", "/ranges/0/")))
        };
        let number = |path: &str| number(path).and_then(Value::as_i64);
        let intent_id = text(&["/intent_id"]);
        Ok(Record {
            is_foreign: Entry::parse(line).is_err(),
            seq: split(line).map(|sealed| sealed.seq),
            timestamp: text(&["/timestamp"]),
            agent_id: text(&["/agent_id", "/actor"]),
            intent_id: Some(intent_id).filter(|id| !id.is_empty()),
            related: texts(&value, &["/related"]),
            state: text(&["/state"]),
            action_type: text(&["/action_type"]),
            tool_name: text(&["/payload/tool_name"]),
            target_files: texts(&value, &["/payload/target_files", "/ranges/file", "/ranges/*/file"]),
            lines: number("/ranges/start_line").zip(number("/ranges/end_line")),
            hash: text(&[
                "/payload/hash",
                "/ranges/content_hash",
                "/ranges/*/content_hash",
                "/result/content_hash",
            ]),
            reasoning: text(&["/payload/reasoning"]),
            status: text(&["/result/status"]),
            output_summary: text(&["/result/output_summary", "/summary"]),
            error_message: text(&["/result/error_message"]),
            session_id: text(&["/metadata/session_id"]),
            contributor: text(&["/metadata/contributor", "/contributor/model_identifier"]),
            mutation_class: text(&["/metadata/mutation_class", "/mutation_class"]),
            trace_id: text(&["/trace_id"]),
        })
    }
}

/// The texts at the first of `paths` that has any: a text, or those of a list. `*` stands for each item of a list.
fn texts(value: &Value, paths: &[&str]) -> Vec<String> {
    let at = |path: &str| -> Vec<String> {
        let found: Vec<&Value> = match path.split_once("/*") {
            Some((list, rest)) => {
                let items = value.pointer(list).and_then(Value::as_array);
                items
                    .into_iter()
                    .flatten()
                    .filter_map(|item| item.pointer(rest))
                    .collect()
            }
            None => match value.pointer(path) {
                Some(Value::Array(items)) => items.iter().collect(),
                other => other.into_iter().collect(),
            },
        };
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        found.into_iter().filter_map(text).collect()
    };
    let mut found = paths.iter().map(|path| at(path));
    found.find(|texts| !texts.is_empty()).unwrap_or_default()
}

use serde_json::Value;

use super::chain::split;
use super::entry::Entry;
use super::verify::MAX_LINE_BYTES;

/// A line for display, by Coord or by another program whose lines mean the same. Absent fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Record {
    /// Whether another program wrote it.
    pub is_foreign: bool,
    /// The number in the chain, if the line is sealed. Only [`super::verify()`] checks it.
    pub seq: Option<u64>,
    /// The time, as the line has it.
    pub timestamp: String,
    /// The actor; `actor` in foreign lines.
    pub agent_id: String,
    pub intent_id: Option<String>,
    /// Other intents or requirements, only in foreign lines.
    pub related: Vec<String>,
    /// The state; foreign lines also have other values.
    pub state: String,
    /// The kind of the event; foreign lines also have other values.
    pub action_type: String,
    pub tool_name: String,
    /// The files; `ranges.file` in foreign lines.
    pub target_files: Vec<String>,
    /// First and last line of the change in foreign lines; -1 is the end of the file.
    pub lines: Option<(i64, i64)>,
    /// The content afterwards; `ranges.content_hash` or `result.content_hash` in foreign lines. It may be truncated.
    pub hash: String,
    pub reasoning: String,
    /// How it ended; foreign lines also have other values.
    pub status: String,
    /// A one-line summary; `summary` in foreign lines.
    pub output_summary: String,
    /// Why it failed or was refused.
    pub error_message: String,
    pub session_id: String,
    /// The model; `contributor.model_identifier` in foreign lines.
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
    /// It is not JSON, or nested too deeply.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// It is JSON, but not an object.
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
            let in_first_range = path.replace("/ranges/", "/ranges/0/");
            value.pointer(path).or(value.pointer(&in_first_range))?.as_i64()
        };
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
    let texts_at = |path: &str| -> Vec<String> {
        let values: Vec<&Value> = match path.split_once("/*") {
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
        values.into_iter().filter_map(text).collect()
    };
    let mut candidates = paths.iter().map(|path| texts_at(path));
    candidates.find(|texts| !texts.is_empty()).unwrap_or_default()
}

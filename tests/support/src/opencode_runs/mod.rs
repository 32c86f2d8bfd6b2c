//! The recorded programs of the plugin, and the permitted differences of a replay by the plugin's tools of `coord mcp`
//! (`tests/agents/mcp/opencode/`).

pub mod differences;

use std::io::Read;

use serde_json::Value;

const RUNS: &[u8] = include_bytes!("traces.jsonl.gz");

pub struct Run {
    pub seed: Value,
    pub steps: Vec<Step>,
    /// The files at its end: `config`, `inboxes`, `tasks`.
    pub end: Value,
}

/// An operation, and its result.
pub struct Step {
    pub operation: String,
    pub args: Value,
    /// Its result, or the sentence that it threw.
    pub result: Result<Value, String>,
}

pub fn runs() -> Vec<Run> {
    let mut text = String::new();
    let read = flate2::read::GzDecoder::new(RUNS).read_to_string(&mut text);
    read.expect("the runs");
    let run = |line: &str| {
        let run: Value = serde_json::from_str(line).expect("a run");
        let steps = run["steps"].as_array().expect("steps").iter().map(step);
        Run {
            seed: run["seed"].clone(),
            steps: steps.collect(),
            end: run["final"].clone(),
        }
    };
    text.lines().map(run).collect()
}

fn step(step: &Value) -> Step {
    Step {
        operation: text(step, "op").to_owned(),
        args: step["args"].clone(),
        result: match step.get("error") {
            Some(error) => Err(error.as_str().expect("a text").to_owned()),
            None => Ok(step["ok"].clone()),
        },
    }
}

/// A member of an object, as text; empty if there is none.
pub fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

/// A list of texts; empty if there is none.
pub fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.map(|item| item.as_str().expect("a text").to_owned()).collect()
}

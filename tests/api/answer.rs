//! The answer of a server.

use serde_json::{Value, json};

/// The answer of a server.
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Status, code and command, such as `409 LOCK_CONFLICT WAIT` and `200 PROCEED`. The code of a check that has no error is
    /// its status: `200 STALE PULL`.
    pub fn outcome(&self) -> String {
        let body = self.json();
        let code = body["error"].as_str().or(body["status"].as_str());
        let parts = [code, body["orchestration"]["action"].as_str()];
        parts
            .into_iter()
            .flatten()
            .fold(self.status.to_string(), |outcome, part| format!("{outcome} {part}"))
    }

    /// The body of an answer whose [`Answer::outcome`] is, or begins with, `outcome`.
    #[track_caller]
    pub fn expect(&self, outcome: &str) -> Value {
        let (body, own) = (self.json(), self.outcome());
        let is_begun = format!("{own} ").starts_with(&format!("{outcome} "));
        assert!(is_begun, "{own} is not {outcome}: {body}");
        body
    }

    /// The reason of the command.
    pub fn reason(&self) -> String {
        let body = self.json();
        let reason = body["orchestration"]["reason"].as_str();
        reason.unwrap_or_else(|| panic!("no reason: {body}")).to_owned()
    }

    /// The warnings that begin with `code`.
    pub fn warnings(&self, code: &str) -> Vec<String> {
        let mut all: Vec<String> = serde_json::from_value(self.json()["warnings"].take()).unwrap();
        all.retain(|warning| warning.starts_with(code));
        all
    }

    /// Status and body for a snapshot, with everything that the clock decides taken out.
    pub fn snapshot(&self) -> Value {
        let mut body = self.json();
        hide_times(&mut body);
        json!({ "status": self.status, "body": body })
    }

    /// `400 INVALID_FIELD branch: the sentence`.
    pub fn refusal(&self) -> String {
        let body = self.json();
        let text = |name: &str| body[name].as_str().unwrap_or("-").to_owned();
        // Where the reason of the command says it, nothing else does.
        let sentence = body["message"].as_str().or(body["orchestration"]["reason"].as_str());
        format!(
            "{} {} {}: {}",
            self.status,
            text("error"),
            text("field"),
            sentence.unwrap_or("-")
        )
    }
}

/// Numbers that the clock decides; a token is at least the time.
const TIMES: [&str; 7] = [
    "timestamp",
    "expiry",
    "generated_at",
    "retry_after",
    "token",
    "expected_by",
    "since",
];

/// Times, and how long until then, also where a sentence says so.
pub fn hide_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if TIMES.contains(&name.as_str()) && value.is_i64() {
                    *value = format!("[{name}]").into();
                } else {
                    hide_times(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(hide_times),
        Value::String(text) => {
            if let Some((before, rest)) = text.split_once(" expires in ") {
                let rest = rest.trim_start_matches(|character: char| character.is_ascii_digit());
                *text = format!("{before} expires in [n]{rest}");
            }
            if text.starts_with("ALREADY_HELD: ")
                && let Some((before, rest)) = text.split_once(" since ")
                && let Some((_, rest)) = rest.split_once(',')
            {
                *text = format!("{before} since [since],{rest}");
            }
        }
        _ => {}
    }
}

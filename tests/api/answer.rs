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
        serde_json::from_slice(&self.bytes)
            .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&self.bytes)))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
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

/// Times, and how long until then, also where a sentence says so.
pub fn hide_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                // A token is at least the time.
                if [
                    "timestamp",
                    "expiry",
                    "generated_at",
                    "retry_after",
                    "token",
                    "expected_by",
                    "since",
                ]
                .contains(&name.as_str())
                    && value.is_i64()
                {
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

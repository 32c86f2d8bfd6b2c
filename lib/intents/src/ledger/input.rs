use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::content::ContentHash;
use super::credentials::{BLANK, blank_credentials, is_name_of_credential};

/// Longer strings are recorded as their hash and length.
const MAX_STRING_BYTES: usize = 200;

/// A tool's input as recorded: an object in which credentials are blanked, and long strings are
/// `{"hash":"sha256:...","bytes":N}`.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct ToolInput(Box<RawValue>);

impl ToolInput {
    /// The record of `input`. A string has the same hash as a file with its content.
    pub fn record(input: &Value) -> Self {
        match input {
            Value::Object(members) => Self::of(&Value::Object(record_object(members))),
            other => Self::of(&json!({ "input": record_value(other) })),
        }
    }

    /// The record of an input that is too large as a whole.
    pub(super) fn as_hash(&self) -> Self {
        Self::of(&hash_and_length(self.as_str()))
    }

    fn of(value: &Value) -> Self {
        ToolInput(serde_json::value::to_raw_value(value).expect("JSON"))
    }

    /// The JSON text, as it is in the line.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl<'de> Deserialize<'de> for ToolInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        if text.get().starts_with('{') {
            Ok(ToolInput(text))
        } else {
            Err(serde::de::Error::custom("tool_input has to be an object"))
        }
    }
}

fn record_object(members: &Map<String, Value>) -> Map<String, Value> {
    let record_member = |(name, value): (&String, &Value)| {
        let recorded = if is_name_of_credential(name) {
            json!(BLANK)
        } else {
            record_value(value)
        };
        let name = match record_text(name) {
            Value::String(name) => name,
            _ => ContentHash::of(name.as_bytes()).to_string(),
        };
        (name, recorded)
    };
    members.iter().map(record_member).collect()
}

fn record_value(value: &Value) -> Value {
    match value {
        Value::String(text) => record_text(text),
        Value::Array(items) => items.iter().map(record_value).collect(),
        Value::Object(members) => Value::Object(record_object(members)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn record_text(text: &str) -> Value {
    if text.len() > MAX_STRING_BYTES {
        hash_and_length(text)
    } else {
        json!(blank_credentials(text))
    }
}

fn hash_and_length(content: &str) -> Value {
    json!({ "hash": ContentHash::of(content.as_bytes()).to_string(), "bytes": content.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: ledger#long-inputs
    #[test]
    fn long_strings_are_recorded_as_hash_and_length() {
        let (short, long) = ("x".repeat(200), "x".repeat(201));
        let hash = ContentHash::of(long.as_bytes());
        let recorded = ToolInput::record(&json!({
            "file_path": "src/größe.ts", "edits": [{ "new": long, "old": short }], "all": true, "line": 3, "none": null
        }));
        let expected = json!({
            "file_path": "src/größe.ts", "edits": [{ "new": { "hash": hash, "bytes": 201 }, "old": short }],
            "all": true, "line": 3, "none": null
        });
        assert_eq!(serde_json::from_str::<Value>(recorded.as_str()).unwrap(), expected);
        assert!(!recorded.as_str().contains(' ') && recorded.as_str().contains("größe"));
    }

    #[test]
    fn credentials_are_blanked_by_their_name_and_by_their_form() {
        let recorded = ToolInput::record(&json!({
            "command": "GITHUB_TOKEN=abc curl -H 'Authorization: Bearer abcdefghijklmnop' https://ada:pw@example.com",
            "env": { "apiKey": { "value": "k" }, "Client-Secret": ["a"], "max_tokens": 10 },
            "ghp_0123456789abcdefghijABCDEFGHIJ012345": 1,
        }));
        let text = recorded.as_str();
        for secret in ["abc", "pw@", "\"k\"", "\"a\"", "ghp_"] {
            assert!(!text.contains(secret), "{secret} is in {text}");
        }
        assert!(
            text.contains("\"max_tokens\":10") && text.contains("example.com"),
            "{text}"
        );
    }

    #[test]
    fn an_input_is_always_an_object() {
        assert_eq!(
            ToolInput::record(&json!("*** Begin Patch")).as_str(),
            r#"{"input":"*** Begin Patch"}"#
        );
        assert!(serde_json::from_str::<ToolInput>("[1]").is_err());
    }
}

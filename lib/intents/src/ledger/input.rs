use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::content::ContentHash;
use super::credentials::{BLANK, blank_credentials, is_name_of_credential};

/// Longer strings are recorded as their hash and length.
const STRING_BYTES: usize = 200;

/// A tool's input as recorded: an object in which credentials are blanked, and long strings are
/// `{"hash":"sha256:...","bytes":N}`.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct ToolInput(Box<RawValue>);

impl ToolInput {
    /// The record of `input`. The hash of a string is that of a file with this content.
    pub fn record(input: &Value) -> Self {
        match input {
            Value::Object(members) => Self::of(&Value::Object(object(members))),
            other => Self::of(&json!({ "input": value(other) })),
        }
    }

    /// The record of an input that is too large as a whole.
    pub(super) fn as_hash(&self) -> Self {
        Self::of(&long(self.as_str()))
    }

    fn of(value: &Value) -> Self {
        ToolInput(serde_json::value::to_raw_value(value).expect("JSON"))
    }

    /// The text, as the line has it.
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

fn object(members: &Map<String, Value>) -> Map<String, Value> {
    let member = |(name, content): (&String, &Value)| {
        let recorded = if is_name_of_credential(name) {
            json!(BLANK)
        } else {
            value(content)
        };
        let name = match text(name) {
            Value::String(name) => name,
            _ => ContentHash::of(name.as_bytes()).to_string(),
        };
        (name, recorded)
    };
    members.iter().map(member).collect()
}

fn value(content: &Value) -> Value {
    match content {
        Value::String(content) => text(content),
        Value::Array(items) => items.iter().map(value).collect(),
        Value::Object(members) => Value::Object(object(members)),
        Value::Null | Value::Bool(_) | Value::Number(_) => content.clone(),
    }
}

fn text(content: &str) -> Value {
    if content.len() > STRING_BYTES {
        long(content)
    } else {
        json!(blank_credentials(content))
    }
}

fn long(content: &str) -> Value {
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

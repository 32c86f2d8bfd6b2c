use std::fmt;

use serde::{Deserialize, Serialize};

/// The id of an event: 1 to 64 letters, digits, `.`, `_` or `-`. An event that is sent twice is recorded once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct TraceId(String);

/// Text that is not an id of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a trace_id has 1 to 64 letters, digits, '.', '_' or '-'")]
pub struct InvalidTraceId;

impl TraceId {
    /// Parses an id. It needs no escapes in a key or in JSON.
    pub fn parse(text: &str) -> Result<Self, InvalidTraceId> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(is_plain) {
            Ok(TraceId(text.to_owned()))
        } else {
            Err(InvalidTraceId)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TraceId {
    type Error = InvalidTraceId;

    fn try_from(text: String) -> Result<Self, InvalidTraceId> {
        TraceId::parse(&text)
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

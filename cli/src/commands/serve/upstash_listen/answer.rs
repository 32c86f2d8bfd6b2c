//! Replies as Upstash writes them: JSON, JSON with base64 strings, or RESP2; and refusals.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use coord_store::{StoreError, Value};
use serde_json::{Value as Json, json};

/// The encoding of strings that the caller asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// JSON; invalid UTF-8 becomes U+FFFD.
    Plain,
    /// JSON; every string is base64, except the status OK.
    Base64,
    /// The bytes of RESP2.
    Resp2,
}

impl Encoding {
    /// The encoding by the headers `Upstash-Encoding` and `Upstash-Response-Format`.
    ///
    /// # Errors
    /// 400 for an unknown value, or for base64 within RESP2.
    pub fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let header = |name| headers.get(name).map_or(Ok(""), |value| value.to_str()).unwrap_or("?");
        match (header("upstash-response-format"), header("upstash-encoding")) {
            ("" | "json", "") => Ok(Encoding::Plain),
            ("" | "json", "base64") => Ok(Encoding::Base64),
            ("resp2", "") => Ok(Encoding::Resp2),
            ("resp2", "base64") => Err(Refusal::bad(
                "ERR base64 encoding is not permitted with the resp2 format",
            )),
            ("" | "json" | "resp2", _) => Err(Refusal::bad("ERR unknown Upstash-Encoding: only base64 is supported")),
            _ => Err(Refusal::bad(
                "ERR unknown Upstash-Response-Format: only json and resp2 are supported",
            )),
        }
    }

    /// The JSON variant, for endpoints without RESP2.
    pub fn as_json(self) -> Self {
        if self == Encoding::Resp2 { Encoding::Plain } else { self }
    }
}

/// The reply to one command: 200, or 400 when it failed.
pub(super) fn single(reply: Value, encoding: Encoding) -> Response {
    let status = if matches!(reply, Value::Error(_)) {
        StatusCode::BAD_REQUEST
    } else {
        StatusCode::OK
    };
    match encoding {
        Encoding::Resp2 => resp2_response(status, &[reply]),
        _ => json_response(status, &object(reply, encoding)),
    }
}

/// One reply for each command, always 200.
pub(super) fn many(replies: Vec<Value>, encoding: Encoding) -> Response {
    match encoding {
        Encoding::Resp2 => resp2_response(StatusCode::OK, &replies),
        _ => {
            let objects = replies.into_iter().map(|reply| object(reply, encoding)).collect();
            json_response(StatusCode::OK, &Json::Array(objects))
        }
    }
}

/// `{"result":...}` or `{"error":...}`; errors are never encoded.
fn object(reply: Value, encoding: Encoding) -> Json {
    match reply {
        Value::Error(error) => json!({ "error": error }),
        Value::Status(text) if text == "OK" => json!({ "result": text }),
        other => json!({ "result": element(other, encoding) }),
    }
}

fn element(value: Value, encoding: Encoding) -> Json {
    match value {
        Value::Nil => Json::Null,
        Value::Int(number) => Json::from(number),
        Value::Bulk(bytes) => string(&bytes, encoding),
        Value::Status(text) => string(text.as_bytes(), encoding),
        Value::Array(items) => items.into_iter().map(|item| element(item, encoding)).collect(),
        Value::Error(error) => json!({ "error": error }),
    }
}

fn string(bytes: &[u8], encoding: Encoding) -> Json {
    match encoding {
        Encoding::Base64 => Json::String(STANDARD.encode(bytes)),
        _ => Json::String(String::from_utf8_lossy(bytes).into_owned()),
    }
}

fn json_response(status: StatusCode, body: &Json) -> Response {
    (status, [(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn resp2_response(status: StatusCode, replies: &[Value]) -> Response {
    let mut bytes = Vec::new();
    for reply in replies {
        write_resp2(reply, &mut bytes);
    }
    (status, [(CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
}

fn write_resp2(value: &Value, out: &mut Vec<u8>) {
    let line = |sign: char, text: &str, out: &mut Vec<u8>| {
        out.extend_from_slice(format!("{sign}{}\r\n", text.replace(['\r', '\n'], " ")).as_bytes());
    };
    match value {
        Value::Nil => out.extend_from_slice(b"$-1\r\n"),
        Value::Int(number) => line(':', &number.to_string(), out),
        Value::Status(text) => line('+', text, out),
        Value::Error(text) => line('-', text, out),
        Value::Bulk(bytes) => {
            line('$', &bytes.len().to_string(), out);
            out.extend_from_slice(bytes);
            out.extend_from_slice(b"\r\n");
        }
        Value::Array(items) => {
            line('*', &items.len().to_string(), out);
            items.iter().for_each(|item| write_resp2(item, out));
        }
    }
}

/// A response with one error for the whole request: `{"error": MESSAGE}`.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    message: String,
}

impl Refusal {
    /// A refusal with this status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal {
            status,
            message: message.into(),
        }
    }

    /// A refusal with status 400.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// A refusal with status 400, for a command that is not offered.
    pub fn unavailable(name: &str) -> Self {
        Self::bad(format!(
            "ERR Command is not available: '{}'",
            name.chars().take(64).collect::<String>()
        ))
    }

    /// The text of the error.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let status = match &error {
            // The store refused the request itself, such as a discarded transaction; the message is an error reply.
            StoreError::Failed(message) => return Self::bad(message.clone()),
            StoreError::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
            StoreError::Malformed(_) => StatusCode::BAD_GATEWAY,
            StoreError::NotConfigured(_) | StoreError::Unreachable(_) | StoreError::Denied(_) => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        };
        tracing::warn!(%error, "the store behind the Upstash port did not respond");
        Self::new(status, "ERR the store behind this server does not respond")
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        json_response(self.status, &json!({ "error": self.message }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Value {
        Value::Array(vec![
            Value::Nil,
            Value::Int(-3),
            Value::Bulk(b"a\xff".to_vec()),
            Value::Array(vec![Value::bulk("")]),
        ])
    }

    #[test]
    fn strings_are_plain_or_base64_at_every_depth() {
        assert_eq!(
            object(sample(), Encoding::Plain).to_string(),
            r#"{"result":[null,-3,"a�",[""]]}"#
        );
        assert_eq!(
            object(sample(), Encoding::Base64).to_string(),
            r#"{"result":[null,-3,"Yf8=",[""]]}"#
        );
    }

    #[test]
    fn the_status_ok_is_never_encoded_and_the_string_ok_is() {
        let encoded = |value| object(value, Encoding::Base64).to_string();
        assert_eq!(encoded(Value::Status("OK".into())), r#"{"result":"OK"}"#);
        assert_eq!(encoded(Value::bulk("OK")), r#"{"result":"T0s="}"#);
        assert_eq!(encoded(Value::Status("PONG".into())), r#"{"result":"UE9ORw=="}"#);
        assert_eq!(encoded(Value::Error("ERR x".into())), r#"{"error":"ERR x"}"#);
    }

    #[test]
    fn resp2_is_written_as_redis_writes_it() {
        let mut bytes = Vec::new();
        write_resp2(&sample(), &mut bytes);
        write_resp2(&Value::Status("OK".into()), &mut bytes);
        write_resp2(&Value::Error("ERR a\r\nb".into()), &mut bytes);
        let expected = b"*4\r\n$-1\r\n:-3\r\n$2\r\na\xff\r\n*1\r\n$0\r\n\r\n+OK\r\n-ERR a  b\r\n";
        assert_eq!(bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }

    #[test]
    fn unknown_encodings_and_formats_are_refused() {
        let of = |format: &str, encoding: &str| {
            let mut headers = HeaderMap::new();
            for (name, value) in [("upstash-response-format", format), ("upstash-encoding", encoding)] {
                if !value.is_empty() {
                    headers.insert(name, value.parse().unwrap());
                }
            }
            Encoding::of(&headers).ok()
        };
        assert_eq!(of("", ""), Some(Encoding::Plain));
        assert_eq!(of("json", "base64"), Some(Encoding::Base64));
        assert_eq!(of("resp2", ""), Some(Encoding::Resp2));
        for (format, encoding) in [("resp2", "base64"), ("resp3", ""), ("", "hex"), ("xml", "base64")] {
            assert_eq!(of(format, encoding), None, "{format} {encoding}");
        }
    }
}

//! Responses of Upstash: replies in JSON with base64 strings, and errors with an HTTP status.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::round_trip::Failure;
use crate::{StoreError, Value};

/// Maximum characters of a foreign error text.
const ERROR_CHARS: usize = 300;

#[derive(Deserialize)]
struct Reply {
    result: Option<Json>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// The replies in the body of a 200.
///
/// # Errors
/// [`StoreError::Malformed`] when it is not an array of replies; [`StoreError::Failed`] when it is a single error.
pub(super) fn replies(body: &[u8]) -> Result<Vec<Value>, StoreError> {
    let Ok(replies) = serde_json::from_slice::<Vec<Reply>>(body) else {
        return Err(match serde_json::from_slice::<Refusal>(body) {
            Ok(refusal) => StoreError::Failed(shorten(&refusal.error)),
            Err(_) => StoreError::Malformed("the body is not an array of replies".into()),
        });
    };
    replies
        .into_iter()
        .map(|reply| match reply.error {
            Some(error) => Ok(Value::Error(error)),
            None => value(reply.result.unwrap_or(Json::Null)),
        })
        .collect()
}

/// One result. Every string is base64, except the status OK, which is not valid base64 and so cannot be confused with
/// one. Other statuses (`PONG`) are encoded, and look like bulk strings.
fn value(json: Json) -> Result<Value, StoreError> {
    match json {
        Json::Null => Ok(Value::Nil),
        Json::Number(number) => number
            .as_i64()
            .map(Value::Int)
            .ok_or_else(|| malformed("a number that is not a 64-bit integer")),
        Json::String(text) if text == "OK" => Ok(Value::Status(text)),
        Json::String(text) => STANDARD
            .decode(text)
            .map(Value::Bulk)
            .map_err(|_| malformed("a string that is not base64")),
        Json::Array(items) => items.into_iter().map(value).collect::<Result<_, _>>().map(Value::Array),
        // An error as an element of an array, which a script can return.
        Json::Object(mut members) => match members.remove("error") {
            Some(Json::String(error)) => Ok(Value::Error(error)),
            _ => Err(malformed("an object")),
        },
        Json::Bool(_) => Err(malformed("a boolean")),
    }
}

fn malformed(detail: &str) -> StoreError {
    StoreError::Malformed(format!("a reply holds {detail}"))
}

/// The failure in a response whose status is not 2xx.
pub(super) fn refusal(status: StatusCode, body: &[u8]) -> Failure {
    let error = serde_json::from_slice::<Refusal>(body)
        .ok()
        .map(|refusal| shorten(&refusal.error));
    let text = match &error {
        Some(error) => format!("HTTP {}: {error}", status.as_u16()),
        None => format!("HTTP {}", status.as_u16()),
    };
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Failure::permanent(StoreError::Denied(text)),
        // Not retried at once, because of the limit.
        StatusCode::TOO_MANY_REQUESTS => Failure::permanent(StoreError::Unreachable(text)),
        _ if status.is_server_error() => Failure::transient(StoreError::Unreachable(text)),
        _ if status.is_redirection() => {
            Failure::permanent(StoreError::Malformed(format!("{text}: redirects are not followed")))
        }
        _ => Failure::permanent(match error {
            Some(error) if error.starts_with("WRONGPASS") || error.starts_with("NOAUTH") => StoreError::Denied(error),
            Some(error) => StoreError::Failed(error),
            None => StoreError::Malformed(format!("{text} without an error in JSON")),
        }),
    }
}

/// `error` on one line, with at most [`ERROR_CHARS`].
fn shorten(error: &str) -> String {
    error
        .chars()
        .take(ERROR_CHARS)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_reply_is_read() {
        let body = br#"[{"result":"OK"},{"result":"T0s="},{"result":null},{"result":-7},{"result":""},
            {"result":"/w=="},{"result":["YQ==",null,3,[],"OK",{"error":"ERR in a table"}]},{"error":"WRONGTYPE x"}]"#;
        let expected = [
            Value::Status("OK".into()),
            Value::bulk("OK"),
            Value::Nil,
            Value::Int(-7),
            Value::bulk(""),
            Value::Bulk(vec![0xff]),
            Value::Array(vec![
                Value::bulk("a"),
                Value::Nil,
                Value::Int(3),
                Value::Array(vec![]),
                Value::Status("OK".into()),
                Value::Error("ERR in a table".into()),
            ]),
            Value::Error("WRONGTYPE x".into()),
        ];
        assert_eq!(replies(body).unwrap(), expected);
    }

    #[test]
    fn an_undecodable_answer_is_malformed() {
        let bodies: [&[u8]; 10] = [
            b"",
            b"<html>hello</html>",
            b"{}",
            b"[1]",
            br#"{"result":"OK"}"#,
            br#"[{"result":"not base64!"}]"#,
            br#"[{"result":1.5}]"#,
            br#"[{"result":true}]"#,
            br#"[{"result":{"a":1}}]"#,
            br#"[{"result":"YQ=="}"#,
        ];
        for body in bodies {
            let error = replies(body).unwrap_err();
            assert!(
                matches!(error, StoreError::Malformed(_)),
                "{:?}: {error:?}",
                String::from_utf8_lossy(body)
            );
        }
    }

    #[test]
    fn a_status_maps_to_an_error_kind_and_whether_a_retry_may_help() {
        let json = br#"{"error":"ERR because"}"#;
        let kinds = [401, 403, 429, 500, 503, 302, 400, 413].map(|code| {
            let failure = refusal(StatusCode::from_u16(code).unwrap(), json);
            let kind = match failure.error {
                StoreError::Denied(_) => "denied",
                StoreError::Unreachable(_) => "unreachable",
                StoreError::Malformed(_) => "malformed",
                StoreError::Failed(_) => "failed",
                _ => "other",
            };
            (code, kind, failure.is_transient)
        });
        let expected = [
            (401, "denied", false),
            (403, "denied", false),
            (429, "unreachable", false),
            (500, "unreachable", true),
            (503, "unreachable", true),
            (302, "malformed", false),
            (400, "failed", false),
            (413, "failed", false),
        ];
        assert_eq!(kinds, expected);
        assert!(matches!(
            refusal(StatusCode::BAD_REQUEST, b"<html>").error,
            StoreError::Malformed(_)
        ));
        let wrong = br#"{"error":"WRONGPASS invalid password"}"#;
        assert!(matches!(
            refusal(StatusCode::BAD_REQUEST, wrong).error,
            StoreError::Denied(_)
        ));
    }

    #[test]
    fn a_foreign_error_text_is_cut_and_put_on_one_line() {
        let long = format!(r#"{{"error":"ERR a\nb\u001b[31m{}"}}"#, "x".repeat(10_000));
        let text = refusal(StatusCode::BAD_REQUEST, long.as_bytes()).error.to_string();
        assert!(text.len() < 400 && !text.contains(char::is_control), "{text}");
    }
}

//! Parses commands from a request: JSON rows, or the path form.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use percent_encoding::percent_decode_str;
use serde_json::value::RawValue;

use super::answer::Refusal;

/// The longest body, as on Upstash's pay-as-you-go plan.
const BODY_BYTES: usize = 10 << 20;
/// Time limit for a body to arrive.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Most commands of a pipeline or transaction. A larger one is best sent as several.
const MOST_ROWS: usize = 10_000;

/// The words of one command, name first.
pub(super) type Words = Vec<Vec<u8>>;

/// The body of a POST or PUT, empty for other methods.
#[derive(Default)]
pub(super) struct Posted(Bytes);

/// Reads a whole body.
///
/// # Errors
/// 413 when it is longer than 10 MiB, 408 when it does not arrive in half a minute, 400 when it breaks off.
pub(super) async fn read(body: Body) -> Result<Posted, Refusal> {
    use http_body_util::{BodyExt, LengthLimitError, Limited};
    match tokio::time::timeout(BODY_TIME, Limited::new(body, BODY_BYTES).collect()).await {
        Ok(Ok(collected)) => Ok(Posted(collected.to_bytes())),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("ERR max request size exceeded. Limit: {BODY_BYTES} bytes"),
        )),
        Ok(Err(_)) => Err(Refusal::bad("ERR the request body broke off")),
        Err(_) => Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            "ERR the request body did not arrive in time",
        )),
    }
}

/// `["CMD","arg",...]`.
///
/// # Errors
/// 400 when the body is anything else.
pub(super) fn row(body: &Posted) -> Result<Words, Refusal> {
    let row: Vec<&RawValue> = serde_json::from_slice(&body.0).map_err(|error| {
        Refusal::bad(format!(
            "ERR failed to parse the request: it must be a JSON array such as [\"GET\",\"key\"]: {error}"
        ))
    })?;
    row.into_iter().map(word).collect()
}

/// `[["CMD","arg",...],...]`.
///
/// # Errors
/// 400 when the body is anything else, or has no command; 413 when it has more than 10,000.
pub(super) fn rows(body: &Posted) -> Result<Vec<Words>, Refusal> {
    let rows: Vec<Vec<&RawValue>> = serde_json::from_slice(&body.0).map_err(|error| {
        Refusal::bad(format!(
            "ERR failed to parse the request: it must be a JSON array of arrays: {error}"
        ))
    })?;
    if rows.is_empty() {
        return Err(Refusal::bad("ERR empty pipeline: send at least one command"));
    }
    if rows.len() > MOST_ROWS {
        return Err(Refusal::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("ERR too many commands in one request. Limit: {MOST_ROWS}"),
        ));
    }
    rows.into_iter()
        .map(|row| row.into_iter().map(word).collect())
        .collect()
}

/// `/CMD/arg/...`: each segment is one argument, percent-decoded. Then comes the body, if there is one, and then names and
/// values of the query. An empty value is left out, so that `?EX=100&NX` means `EX 100 NX`.
///
/// # Errors
/// 400 when the path names no command.
pub(super) fn path_form(path: &str, query: &[(String, String)], body: Posted) -> Result<Words, Refusal> {
    let segments = path.strip_prefix('/').unwrap_or(path).split('/');
    let mut words: Words = segments.map(|segment| percent_decode_str(segment).collect()).collect();
    if words.first().is_none_or(Vec::is_empty) {
        return Err(Refusal::bad("ERR empty command"));
    }
    if !body.0.is_empty() {
        words.push(body.0.into());
    }
    for (name, value) in query {
        words.push(name.as_bytes().to_vec());
        if !value.is_empty() {
            words.push(value.as_bytes().to_vec());
        }
    }
    Ok(words)
}

/// An argument: the text of a string; for anything else the JSON as sent, so that `1.50` stays `1.50` and an object is
/// stored as its JSON.
fn word(json: &RawValue) -> Result<Vec<u8>, Refusal> {
    let text = json.get();
    if !text.starts_with('"') {
        return Ok(text.as_bytes().to_vec());
    }
    serde_json::from_str::<String>(text)
        .map(String::into_bytes)
        .map_err(|error| Refusal::bad(format!("ERR failed to parse an argument: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(text: &str) -> Posted {
        Posted(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn texts(words: Words) -> Vec<String> {
        words.into_iter().map(|word| String::from_utf8(word).unwrap()).collect()
    }

    #[test]
    fn arguments_of_every_json_type_become_text() {
        let row = row(&posted(
            r#"["SET", "k\n\u00e9\ud83e\udd80", 1.50, 12345678901234567890, true, null, {"a": [1]}, [ ]]"#,
        ));
        let expected = [
            "SET",
            "k\né🦀",
            "1.50",
            "12345678901234567890",
            "true",
            "null",
            r#"{"a": [1]}"#,
            "[ ]",
        ];
        assert_eq!(texts(row.unwrap_or_else(|_| panic!("a row"))), expected);
    }

    #[test]
    fn an_invalid_row_is_refused() {
        for text in ["", "{}", "\"GET\"", "[\"GET\"", "[\"\\ud800\"]", "[[\"GET\",\"k\"]] x"] {
            assert!(row(&posted(text)).is_err(), "{text}");
        }
        for text in ["", "[]", "[1]", "[[1],2]", "[\"GET\",\"k\"]", "{\"a\":1}"] {
            assert!(rows(&posted(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn deeply_nested_arguments_do_not_exhaust_the_stack() {
        let deep = format!("[\"SET\",\"k\",{}{}]", "[".repeat(200_000), "]".repeat(200_000));
        let row = row(&posted(&deep));
        assert!(row.is_err() || row.is_ok_and(|words| words[2].len() == 400_000));
    }

    #[test]
    fn the_path_form_takes_segments_then_the_body_then_the_query() {
        let query = [("EX".to_owned(), "100".to_owned()), ("NX".to_owned(), String::new())];
        let words = path_form("/set/a%2Fb%20c/", &query, posted("value")).unwrap_or_else(|_| panic!("words"));
        assert_eq!(texts(words), ["set", "a/b c", "", "value", "EX", "100", "NX"]);
        assert!(path_form("//x", &[], Posted::default()).is_err());
    }
}

//! Reads JSON bodies within limits.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, Request};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::error::ApiError;

/// Maximum size of a body in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Maximum seconds until a body has arrived.
const MAX_SECONDS: u64 = 10;

/// Reads the body of `request` as JSON.
///
/// # Errors
/// When its Content-Type is not JSON, or it is encoded, too large, too slow, not UTF-8, not JSON, or not of the shape of
/// `T`.
pub async fn read_json<T: DeserializeOwned>(request: Request<Body>) -> Result<T, ApiError> {
    if !is_json(request.headers()) {
        return Err(ApiError::UnsupportedMediaType);
    }
    parse(&read_bytes(request, MAX_BYTES).await?)
}

/// Reads the body of `request`, with at most `max_bytes`.
///
/// # Errors
/// When it is encoded, too large, or too slow.
pub(super) async fn read_bytes(request: Request<Body>, max_bytes: usize) -> Result<Bytes, ApiError> {
    // Nothing is decompressed, so that a small body cannot become a large one.
    let mut encodings = request.headers().get_all(CONTENT_ENCODING).iter();
    if encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(ApiError::UnsupportedEncoding);
    }
    let announced = request
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > max_bytes as u64) {
        return Err(ApiError::TooLarge(max_bytes));
    }
    let reading = Limited::new(request.into_body(), max_bytes).collect();
    match tokio::time::timeout(Duration::from_secs(MAX_SECONDS), reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(ApiError::TooLarge(max_bytes)),
        Ok(Err(_)) => Err(malformed(None, "the body was cut off")),
        Err(_) => Err(ApiError::SlowBody(MAX_SECONDS)),
    }
}

/// Whether a body is announced as JSON in UTF-8.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let Some(text) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let mut parts = text.split(';');
    let is_json = parts
        .next()
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"));
    is_json
        && parts.all(|parameter| match parameter.trim().split_once('=') {
            Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
                value.trim_matches('"').eq_ignore_ascii_case("utf-8")
            }
            _ => true,
        })
}

/// Reads `bytes` as a JSON object.
///
/// # Errors
/// When they are not UTF-8, not JSON, or not of the shape of `T`.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let text = std::str::from_utf8(bytes).map_err(|_| malformed(None, "the body is not UTF-8"))?;
    // A struct could also be read from a list.
    if !text.trim_start().starts_with('{') {
        return Err(malformed(None, "the body is not a JSON object"));
    }
    serde_json::from_str(text).map_err(|error| explain::<T>(text, error))
}

/// The problem with an unreadable body, and the field. Only bad bodies are parsed this second, slower way.
fn explain<T: DeserializeOwned>(text: &str, error: serde_json::Error) -> ApiError {
    // The class of an error does not separate invalid JSON from wrong types: a number for an enum counts as syntax.
    if let Err(error) = serde_json::from_str::<IgnoredAny>(text) {
        return malformed(None, &format!("the body is not JSON: {error}"));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(error) => {
            let path = Some(error.path().to_string()).filter(|path| path != ".");
            let subject = path.as_deref().unwrap_or("the body").to_owned();
            malformed(
                path,
                &format!("{subject} is wrong: {}", in_words_of_json(error.inner())),
            )
        }
        Ok(_) => malformed(None, &format!("the body is wrong: {}", in_words_of_json(&error))),
    }
}

/// The error in terms of JSON, not of Rust. It omits "at line 1 column 20", which only helps if the JSON was written by
/// hand, and the text of the caller beyond the quoted part.
fn in_words_of_json(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    if text == "expected value" {
        return "expected a string".to_owned();
    }
    let mut text = text.to_owned();
    for (rust, json) in [
        ("unknown variant ", "unknown value "),
        ("invalid type: sequence", "invalid type: list"),
        ("invalid type: map", "invalid type: object"),
    ] {
        if let Some(rest) = text.strip_prefix(rust) {
            text = format!("{json}{rest}");
        }
    }
    if let Some(rest) = text.strip_suffix("expected a sequence") {
        text = format!("{rest}expected a list");
    }
    text.chars()
        .filter(|character| !character.is_control())
        .take(200)
        .collect()
}

fn malformed(field: Option<String>, message: &str) -> ApiError {
    let field = field.map(|path| path.split(['.', '[']).next().unwrap_or_default().to_owned());
    ApiError::MalformedBody {
        field: field.filter(|name| !name.is_empty()),
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_in_utf8_is_json() {
        for (value, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/json; charset=latin1", false),
            ("text/json", false),
            ("text/plain", false),
            ("", false),
        ] {
            let headers = [(CONTENT_TYPE, value.parse().unwrap())].into_iter().collect();
            assert_eq!(is_json(&headers), expected, "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_more() {
        let deep = "[".repeat(100_000);
        assert!(parse::<serde_json::Value>(deep.as_bytes()).is_err());
        let deep = format!("{{\"a\":{}", "[".repeat(100_000));
        assert!(parse::<serde_json::Value>(deep.as_bytes()).is_err());
    }

    #[test]
    fn what_follows_the_object_makes_the_body_bad() {
        assert!(parse::<serde_json::Value>(b" {} ").is_ok());
        for text in ["{} {}", "{}x", "{},"] {
            assert!(parse::<serde_json::Value>(text.as_bytes()).is_err(), "{text}");
        }
    }
}

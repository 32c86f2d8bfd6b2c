//! Reading a JSON body within bounds.

use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, Request};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use super::ApiError;

/// Largest body, in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Longest time that a body may take to arrive.
const MAX_SECONDS: u64 = 10;

/// Reads the body of `request` as JSON.
///
/// # Errors
/// When it is not announced as JSON, too large, too slow, not UTF-8, not JSON, or not of the shape of `T`.
pub async fn read_json<T: DeserializeOwned>(request: Request<Body>) -> Result<T, ApiError> {
    if !is_json(request.headers()) {
        return Err(ApiError::UnsupportedMediaType);
    }
    let announced = request
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > MAX_BYTES as u64) {
        return Err(ApiError::TooLarge(MAX_BYTES));
    }
    let reading = Limited::new(request.into_body(), MAX_BYTES).collect();
    let bytes = match tokio::time::timeout(Duration::from_secs(MAX_SECONDS), reading).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(ApiError::TooLarge(MAX_BYTES)),
        Ok(Err(_)) => return Err(malformed(None, "the body was cut off")),
        Err(_) => return Err(ApiError::SlowBody(MAX_SECONDS)),
    };
    parse(&bytes)
}

fn is_json(headers: &HeaderMap) -> bool {
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

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let text = std::str::from_utf8(bytes).map_err(|_| malformed(None, "the body is not UTF-8"))?;
    // The quick way first; only a body that is wrong is read again, to learn where.
    serde_json::from_str(text)
        .or_else(|_| {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
                let field = Some(error.path().to_string()).filter(|path| path != ".");
                let cause = error.inner();
                let message = match (cause.classify(), &field) {
                    (serde_json::error::Category::Data, Some(field)) => {
                        format!("{field} is wrong: {}", without_place(cause))
                    }
                    (serde_json::error::Category::Data, None) => format!("the body is wrong: {}", without_place(cause)),
                    _ => format!("the body is not JSON: {cause}"),
                };
                malformed(field, &message)
            })
        })
        .and_then(|value| {
            if text.trim_start().starts_with('{') {
                Ok(value)
            } else {
                Err(malformed(None, "the body is not a JSON object"))
            }
        })
}

/// The error without "at line 1 column 20", which helps nobody who did not write the JSON by hand, and without the caller's
/// own text beyond what is quoted.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    text.chars()
        .take(200)
        .flat_map(|character| if character.is_control() { None } else { Some(character) })
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
    }
}

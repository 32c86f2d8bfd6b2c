//! Reads bodies within limits: each body in bytes and time, and all bodies together in memory.

use std::ops::Deref;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, Request};
use bytes::{Bytes, BytesMut};
use coord_protocol::plain_text::plain_text;
use coord_protocol::{CheckRequest, PostRequest};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{DeserializeOwned, IgnoredAny};
use tokio::sync::{Semaphore, SemaphorePermit};

use coord_auth::Caller;
use coord_server::app::App;
use coord_server::error::ApiError;

/// Maximum size of a body in bytes.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Maximum seconds until a body has arrived.
const MAX_SECONDS: u64 = 10;

/// The first bytes of each body need no permits, so that ordinary requests are read while large bodies hold them all.
const FREE_BYTES: usize = 64 * 1024;

/// Maximum further bytes of all bodies in the memory of this process. Their senders may be unverified.
const MAX_BYTES_AT_ONCE: usize = 64 * 1024 * 1024;

/// One permit for each of these bytes.
static PERMITS: Semaphore = Semaphore::const_new(MAX_BYTES_AT_ONCE);

/// Seconds until a refused body may be sent again: half of the time after which a slow body releases its permits.
const RETRY_SECONDS: u64 = MAX_SECONDS / 2;

/// A body, and its permits until it is dropped.
#[derive(Debug)]
pub(super) struct ReceivedBody<'a> {
    bytes: Bytes,
    _permits: Option<SemaphorePermit<'a>>,
}

impl Deref for ReceivedBody<'_> {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

/// Reads the body of `request` as JSON.
///
/// # Errors
/// When its Content-Type is not JSON, or it is encoded, too large, too slow, not UTF-8, not JSON, or not of the shape
/// of `T`; or when other bodies use all the memory.
pub async fn read_json<T: DeserializeOwned>(request: Request<Body>) -> Result<T, ApiError> {
    parse(&read_json_bytes(request).await?)
}

/// Authenticates the caller with these `headers`, and only then reads the body of `request` as JSON.
///
/// # Errors
/// When the credential is missing or bad, and those of [`read_json`].
pub async fn read_request<T: DeserializeOwned>(
    app: &App,
    headers: &HeaderMap,
    request: Request<Body>,
) -> Result<(Caller, T), ApiError> {
    let caller = app.authenticator.authenticate(headers).await?;
    Ok((caller, read_json(request).await?))
}

/// Reads the body of `request`, whose Content-Type must be JSON.
///
/// # Errors
/// As [`read_json`], except for the content of the body.
pub(super) async fn read_json_bytes(request: Request<Body>) -> Result<ReceivedBody<'static>, ApiError> {
    if !is_json(request.headers()) {
        return Err(ApiError::UnsupportedMediaType);
    }
    read_bytes(request, MAX_BYTES).await
}

/// Reads the body of `request`, with at most `max_bytes`.
///
/// # Errors
/// When it is encoded, too large, or too slow, or when other bodies use all the memory.
pub(super) async fn read_bytes(request: Request<Body>, max_bytes: usize) -> Result<ReceivedBody<'static>, ApiError> {
    // Nothing is decompressed, so that a small body cannot become a large one.
    let mut encodings = request.headers().get_all(CONTENT_ENCODING).iter();
    if encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(ApiError::UnsupportedEncoding);
    }
    let content_length = request
        .headers()
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if content_length.is_some_and(|length| length > max_bytes as u64) {
        return Err(ApiError::TooLarge(max_bytes));
    }
    let receiving = receive(request.into_body(), max_bytes, &PERMITS);
    tokio::time::timeout(Duration::from_secs(MAX_SECONDS), receiving)
        .await
        .unwrap_or(Err(ApiError::SlowBody(MAX_SECONDS)))
}

/// Receives `body`. It takes permits for the bytes that have arrived, so that a Content-Length alone reserves nothing.
async fn receive(body: Body, max_bytes: usize, semaphore: &Semaphore) -> Result<ReceivedBody<'_>, ApiError> {
    let mut body = Limited::new(body, max_bytes);
    // One buffer for all frames, because each frame may keep a larger buffer in memory.
    let mut bytes = BytesMut::new();
    let mut permits: Option<SemaphorePermit<'_>> = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.is::<LengthLimitError>() {
            true => ApiError::TooLarge(max_bytes),
            false => malformed(None, "the body was cut off"),
        })?;
        let Ok(data) = frame.into_data() else { continue };
        let needed = (bytes.len() + data.len()).saturating_sub(bytes.len().max(FREE_BYTES));
        if needed > 0 {
            let needed = u32::try_from(needed).unwrap_or(u32::MAX);
            let new_permits = semaphore
                .try_acquire_many(needed)
                .map_err(|_| ApiError::TooManyBodies {
                    retry_after_seconds: RETRY_SECONDS,
                })?;
            match &mut permits {
                Some(permits) => permits.merge(new_permits),
                None => permits = Some(new_permits),
            }
        }
        bytes.extend_from_slice(&data);
    }
    Ok(ReceivedBody {
        bytes: bytes.freeze(),
        _permits: permits,
    })
}

/// Whether the Content-Type is JSON in UTF-8.
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

/// Parses `bytes` as a JSON object.
///
/// # Errors
/// When they are not UTF-8, not JSON, or not of the shape of `T`.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let text = object_text(bytes)?;
    serde_json::from_str(text).map_err(|error| explain::<T>(text, error))
}

fn object_text(bytes: &[u8]) -> Result<&str, ApiError> {
    let text = std::str::from_utf8(bytes).map_err(|_| malformed(None, "the body is not UTF-8"))?;
    // Without this check, serde would also parse a struct from a list.
    match text.trim_start().starts_with('{') {
        true => Ok(text),
        false => Err(malformed(None, "the body is not a JSON object")),
    }
}

/// Parses a check.
///
/// # Errors
/// As [`parse`].
pub fn parse_check(bytes: &[u8]) -> Result<CheckRequest, ApiError> {
    let (request, unknown_fields) = parse_with_unknown_fields::<CheckRequest>(bytes)?;
    Ok(CheckRequest {
        unknown_fields,
        ..request
    })
}

/// Parses a claim or a release.
///
/// # Errors
/// As [`parse`].
pub fn parse_post(bytes: &[u8]) -> Result<PostRequest, ApiError> {
    let (request, unknown_fields) = parse_with_unknown_fields::<PostRequest>(bytes)?;
    Ok(PostRequest {
        unknown_fields,
        ..request
    })
}

/// As [`parse`], and returns the names of the first fields that `T` does not have.
fn parse_with_unknown_fields<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, Vec<String>), ApiError> {
    const MAX_FIELDS: usize = 10;
    let text = object_text(bytes)?;
    let mut unknown_fields = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut add_field = |path: serde_ignored::Path<'_>| {
        if unknown_fields.len() < MAX_FIELDS {
            // `?` stands for the inside of an optional field.
            let name = path.to_string().replace(".?", "");
            unknown_fields.push(plain_text(&name).chars().take(64).collect());
        }
    };
    let result = serde_ignored::deserialize(&mut deserializer, &mut add_field);
    let result = result.and_then(|value| deserializer.end().map(|()| value));
    let value = result.map_err(|error| explain::<T>(text, error))?;
    Ok((value, unknown_fields))
}

/// The problem with a malformed body, and the field. Only malformed bodies are parsed this second, slower way.
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
                &format!("{subject} is wrong: {}", describe_in_json_terms(error.inner())),
            )
        }
        Ok(_) => malformed(None, &format!("the body is wrong: {}", describe_in_json_terms(&error))),
    }
}

/// The error in terms of JSON, not of Rust. It omits "at line 1 column 20", which helps only people who write JSON by
/// hand, and most of the caller's text.
fn describe_in_json_terms(error: &serde_json::Error) -> String {
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
    use std::convert::Infallible;
    use std::task::Poll;

    use futures::future::join_all;
    use futures::stream::{self, StreamExt};

    use super::*;

    const MIB: usize = 1024 * 1024;

    /// A body of `chunks` times 64 KiB, whose end does not come if it `is_slow`.
    fn body(chunks: usize, is_slow: bool) -> Body {
        let chunk = Bytes::from(vec![b' '; FREE_BYTES]);
        let sent = stream::iter(vec![Ok::<_, Infallible>(chunk); chunks]);
        if is_slow {
            Body::from_stream(sent.chain(stream::pending()))
        } else {
            Body::from_stream(sent)
        }
    }

    #[tokio::test]
    async fn bodies_that_are_being_received_have_a_bound_together() {
        let permits = Semaphore::new(8 * MIB);
        let mut slow: Vec<_> = (0..20)
            .map(|_| Box::pin(receive(body(16, true), MIB, &permits)))
            .collect();
        let mut waiting = 0;
        for receiving in &mut slow {
            match futures::poll!(receiving) {
                Poll::Pending => waiting += 1,
                Poll::Ready(refused) => assert_eq!(
                    refused.unwrap_err(),
                    ApiError::TooManyBodies {
                        retry_after_seconds: RETRY_SECONDS
                    }
                ),
            }
        }
        // Each takes a sixteenth of a MiB less than it is long.
        assert_eq!(waiting, 8);
        // Small bodies need no permits.
        let small = join_all((0..1_000).map(|_| receive(body(1, false), MIB, &permits))).await;
        assert!(small.iter().all(Result::is_ok));
        // Abandoned and dropped bodies release their permits.
        drop(slow);
        assert_eq!(permits.available_permits(), 8 * MIB);
        let received = receive(body(16, false), MIB, &permits).await.unwrap();
        assert_eq!(received.len(), MIB);
        assert_eq!(permits.available_permits(), 7 * MIB + FREE_BYTES);
        drop(received);
        assert_eq!(permits.available_permits(), 8 * MIB);
        let too_large = receive(body(17, false), MIB, &permits).await.unwrap_err();
        assert_eq!(too_large, ApiError::TooLarge(MIB));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_frees_its_permits_when_it_times_out() {
        let before = PERMITS.available_permits();
        let request = Request::new(body(16, true));
        let mut receiving = Box::pin(read_bytes(request, MIB));
        assert!(futures::poll!(&mut receiving).is_pending());
        assert!(PERMITS.available_permits() < before);
        assert_eq!(receiving.await.unwrap_err(), ApiError::SlowBody(MAX_SECONDS));
        assert_eq!(PERMITS.available_permits(), before);
    }

    #[test]
    fn only_json_in_utf8_is_json() {
        for (value, expected) in [
            ("application/json", true),
            ("APPLICATION/JSON", true),
            ("Application/JSON; charset=UTF-8", true),
            ("application/json;charset=\"utf-8\"", true),
            ("application/json; charset=latin1", false),
            ("application/json; charset=utf-16", false),
            ("application/jsonp", false),
            ("application/x-www-form-urlencoded", false),
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
    fn a_body_that_is_too_deep_or_not_one_object_is_malformed() {
        let brackets = "[".repeat(100_000);
        assert!(parse::<serde_json::Value>(b" {} ").is_ok());
        let deep = format!("{{\"a\":{brackets}");
        for text in [brackets.as_str(), &deep, "{} {}", "{}x", "{},"] {
            let start = text.get(..5).unwrap_or(text);
            assert!(parse::<serde_json::Value>(text.as_bytes()).is_err(), "{start}");
        }
    }
}

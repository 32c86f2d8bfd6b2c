//! Conditional requests: the `ETag` of a response is a hash of all that it depends on, and a caller that has the same
//! response gets 304.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use coord_protocol::plain_text::escape;
use serde::Serialize;
use utoipa::openapi::ResponseBuilder;

use crate::openapi::responses::text_header;
use coord_server::error::ApiError;
use coord_store::script::sha1_hex;

/// The headers of a request on which every response depends.
pub const VARY_FOR_CALLERS: &str = "authorization, x-api-key, accept-encoding";

/// The same for a request of an agent.
pub const VARY_FOR_AGENTS: &str = "authorization, x-api-key, x-coord-agent, accept-encoding";

/// The `ETag` of a response that depends on `parts` alone.
pub fn tag_of(parts: &str) -> String {
    format!("W/\"{}\"", sha1_hex(parts))
}

/// Whether `If-None-Match` contains this tag.
pub fn matches_tag(headers: &HeaderMap, tag: &str) -> bool {
    let without_prefix = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| {
            value
                .split(',')
                .any(|candidate| candidate.trim() == "*" || without_prefix(candidate) == without_prefix(tag))
        })
}

/// Adds the headers to a response or a 304. `vary` lists the headers of the request that the response depends on.
pub fn with_tag(mut response: Response, tag: &str, vary: &'static str) -> Result<Response, ApiError> {
    for (name, value) in [
        (ETAG, HeaderValue::from_str(tag).map_err(|_| ApiError::Internal)?),
        (CACHE_CONTROL, HeaderValue::from_static("private, no-cache")),
        (VARY, HeaderValue::from_static(vary)),
    ] {
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

/// Responds to an agent with `value` as JSON, or with 304 if the agent has the same response.
pub fn respond(headers: &HeaderMap, value: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_string(value).map_err(|_| ApiError::Internal)?;
    let tag = tag_of(&body);
    let response = match matches_tag(headers, &tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, "application/json")], escape(&body).into_owned()).into_response(),
    };
    with_tag(response, &tag, VARY_FOR_AGENTS)
}

/// 304 in the OpenAPI document.
pub fn not_modified(vary: &str) -> ResponseBuilder {
    let response = ResponseBuilder::new().description("The response that `If-None-Match` names is current");
    add_headers(response, vary)
}

/// Adds the headers to `response` in the OpenAPI document.
pub fn add_headers(response: ResponseBuilder, vary: &str) -> ResponseBuilder {
    response
        .header(
            "ETag",
            text_header("A hash of everything that the response depends on", "W/\"5d1d7ac5f0\""),
        )
        .header(
            "Cache-Control",
            text_header("Revalidate each time", "private, no-cache"),
        )
        .header(
            "Vary",
            text_header("The headers of the request that the response depends on", vary),
        )
}

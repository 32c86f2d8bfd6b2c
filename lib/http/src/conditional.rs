//! Conditional requests: a response has a hash of all that it depends on as its `ETag`, and a caller that has it gets 304.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use coord_protocol::plain_text::escape;
use serde::Serialize;
use utoipa::openapi::ResponseBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use coord_server::error::ApiError;
use coord_store::script::sha1_hex;

/// The headers of a request on which every response depends.
pub const OF_CALLERS: &str = "authorization, x-api-key, accept-encoding";

/// The same of an agent.
pub const OF_AGENTS: &str = "authorization, x-api-key, x-coord-agent, accept-encoding";

/// The `ETag` of a response that depends on `parts` alone.
pub fn tag_of(parts: &str) -> String {
    format!("W/\"{}\"", sha1_hex(parts))
}

/// Whether `If-None-Match` contains this tag.
pub fn matches_tag(headers: &HeaderMap, tag: &str) -> bool {
    let bare = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| {
            value
                .split(',')
                .any(|candidate| candidate.trim() == "*" || bare(candidate) == bare(tag))
        })
}

/// Adds the headers to a response, or to 304 in its place; `vary`: the headers of the request that it depends on.
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

/// `answer` as JSON, or 304 to an agent that has the same.
pub fn respond(headers: &HeaderMap, answer: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_string(answer).map_err(|_| ApiError::Internal)?;
    let own = tag_of(&body);
    let response = match matches_tag(headers, &own) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, "application/json")], escape(&body).into_owned()).into_response(),
    };
    with_tag(response, &own, OF_AGENTS)
}

/// 304 in the OpenAPI document.
pub fn not_modified(vary: &str) -> ResponseBuilder {
    let same = ResponseBuilder::new().description("The response that `If-None-Match` names is current");
    add_headers(same, vary)
}

/// `described` with the headers.
pub fn add_headers(described: ResponseBuilder, vary: &str) -> ResponseBuilder {
    let header = |description: &str, value: &str| {
        let schema = ObjectBuilder::new().schema_type(Type::String).examples([value]);
        HeaderBuilder::new()
            .schema(Some(schema))
            .description(Some(description))
            .build()
    };
    described
        .header(
            "ETag",
            header("A hash of everything that the response depends on", "W/\"5d1d7ac5f0\""),
        )
        .header("Cache-Control", header("Revalidate each time", "private, no-cache"))
        .header(
            "Vary",
            header("The headers of the request that the response depends on", vary),
        )
}

//! The responses of the endpoints of teams, and what they share in the OpenAPI document.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use coord_protocol::ErrorCode;
use serde::Serialize;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Described};

use coord_http::conditional;
use coord_http::error::{Respond, status_of};
use coord_http::json::Json;
use coord_http::openapi::errors::{Cause, READ, Reader, errors, finish, with_error};
use coord_http::openapi::responses::response;
use coord_server::error::ApiError;

/// The response, or the error with a command.
pub(super) fn respond(result: Result<impl Serialize, ApiError>) -> Response {
    match result {
        Ok(response) => Json(response).into_response(),
        Err(error) => error.respond_to_agent(),
    }
}

/// The response, 304 for a caller that has it, or the error with a command.
pub(super) fn respond_if_changed(headers: &HeaderMap, result: Result<impl Serialize, ApiError>) -> Response {
    let response = result.and_then(|answer| conditional::respond(headers, &answer));
    response.unwrap_or_else(|error| error.respond_to_agent())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    Read,
    /// A read that responds 304 if nothing has changed.
    ConditionalRead,
    /// A change that the body describes.
    Change,
    Remove,
}

/// The responses: one with `schema`, the refusals with `codes`, and the errors of an endpoint with these `methods`.
pub(super) fn describe(
    schema: &str,
    kind: RequestKind,
    methods: &'static str,
    codes: &[ErrorCode],
) -> BTreeMap<String, RefOr<Described>> {
    let mut causes = READ.to_vec();
    if kind == RequestKind::Change {
        causes.push(Cause::Body);
    }
    let mut answers = errors(&causes, Reader::Agent, methods, None);
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(schema)));
    let done = response("Done", content);
    if kind == RequestKind::ConditionalRead {
        answers.insert(304, conditional::not_modified(conditional::VARY_FOR_AGENTS));
        answers.insert(200, conditional::add_headers(done, conditional::VARY_FOR_AGENTS));
    } else {
        answers.insert(200, done);
    }
    let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
    for code in codes {
        by_status.entry(status_of(*code).as_u16()).or_default().push(*code);
    }
    for (status, codes) in by_status {
        // Any request of an agent may get these codes with this status.
        let general: &[ErrorCode] = match status {
            403 => &[ErrorCode::Forbidden, ErrorCode::ForbiddenRepository],
            404 => &[ErrorCode::UnknownRepository, ErrorCode::UnknownBranch],
            413 => &[ErrorCode::BodyTooLarge],
            _ => &[],
        };
        let content = with_error(&["AgentError"], &[general, &codes].concat());
        answers.insert(status, response("Refused by the rules; nothing was changed", content));
    }
    finish(answers)
}

/// Declares the responses of an endpoint.
macro_rules! answers {
    ($($(#[$doc:meta])* $name:ident = $schema:literal, $kind:ident, $methods:literal, [$($code:ident),* $(,)?];)*) => {$(
        $(#[$doc])*
        pub(super) enum $name {}

        impl utoipa::IntoResponses for $name {
            fn responses() -> std::collections::BTreeMap<String, utoipa::openapi::RefOr<utoipa::openapi::Response>> {
                use $crate::endpoint::teams::answers::{RequestKind, describe};
                describe($schema, RequestKind::$kind, $methods, &[$(coord_protocol::ErrorCode::$code),*])
            }
        }
    )*};
}
pub(super) use answers;

//! Responses about intents, and their OpenAPI parts.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use coord_protocol::{ErrorCode, IntentResponse};
use utoipa::IntoResponses;
use utoipa::openapi::{RefOr, Response as Described};

use crate::examples;
use crate::registered::unknown_intent;
use coord_http::error::{Respond, status_of};
use coord_http::json::Json;
use coord_http::openapi::errors::{Cause, READ, Reader, ResponsesByStatus, errors, errors_and, finish, with_error};
use coord_http::openapi::responses::{content, just, narrow, response};
use coord_server::error::ApiError;

/// The error for an intent that does not exist.
fn no_intent() -> [ApiError; 1] {
    [unknown_intent("REQ-POOL-2")]
}

/// The response to an operation on one intent.
pub(super) fn respond(result: Result<IntentResponse, ApiError>) -> Response {
    match result {
        Ok(response) => {
            let status = response.error.as_ref().map(|error| status_of(error.error));
            (status.unwrap_or(StatusCode::OK), Json(response)).into_response()
        }
        Err(error) => error.respond_to_agent(),
    }
}

/// The responses to a request for all intents.
pub(super) enum ListResponses {}

impl IntoResponses for ListResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut responses = errors(&READ, Reader::Agent, "GET, HEAD, POST", None);
        let intents = content("Intents", examples::intents());
        responses.insert(200, response("The intents", intents));
        finish(responses)
    }
}

/// The responses to a request for one intent.
pub(super) enum IntentResponses {}

impl IntoResponses for IntentResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut responses = errors_and(&READ, &no_intent(), Reader::Agent, "GET, HEAD, PATCH", None);
        responses.insert(200, success("The intent"));
        finish(responses)
    }
}

/// The responses to a new intent.
pub(super) enum CreateResponses {}

impl IntoResponses for CreateResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [&READ[..], &[Cause::Body]].concat();
        let responses = errors(&causes, Reader::Agent, "GET, HEAD, POST", None);
        change_responses(responses, &[ErrorCode::IntentExists, ErrorCode::TooManyIntents])
    }
}

/// The responses to a change of an intent.
pub(super) enum EditResponses {}

impl IntoResponses for EditResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        change_responses(change_errors("GET, HEAD, PATCH"), &[ErrorCode::ScopeFrozen])
    }
}

/// The responses to an act.
pub(super) enum ActResponses {}

impl IntoResponses for ActResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let codes = [
            ErrorCode::IntentNotActive,
            ErrorCode::IntentBlocked,
            ErrorCode::IntentTransition,
            ErrorCode::ScopeTooBroad,
            ErrorCode::ScopeOverlap,
            ErrorCode::CriteriaUnmet,
            ErrorCode::TooManyIntents,
        ];
        change_responses(change_errors("POST"), &codes)
    }
}

/// The responses to a report of costs.
pub(super) enum UsageResponses {}

impl IntoResponses for UsageResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [&READ[..], &[Cause::Body]].concat();
        let codes = [
            ErrorCode::IntentNotActive,
            ErrorCode::IntentBlocked,
            ErrorCode::BudgetExhausted,
            ErrorCode::CircuitOpen,
        ];
        change_responses(errors_and(&causes, &no_intent(), Reader::Agent, "POST", None), &codes)
    }
}

fn change_errors(methods: &'static str) -> ResponsesByStatus {
    let causes = [&READ[..], &[Cause::Body, Cause::Person]].concat();
    errors_and(&causes, &no_intent(), Reader::Agent, methods, None)
}

fn success(description: &str) -> utoipa::openapi::ResponseBuilder {
    let content = narrow("IntentResponse", "success", just(true), &[]).example(Some(examples::intent_written()));
    response(description, content)
}

fn change_responses(mut responses: ResponsesByStatus, codes: &[ErrorCode]) -> BTreeMap<String, RefOr<Described>> {
    responses.insert(200, success("Done"));
    let content = with_error(&["IntentResponse", "RefusalCode"], codes);
    responses.insert(409, response("Refused by the rules; nothing was done", content));
    finish(responses)
}

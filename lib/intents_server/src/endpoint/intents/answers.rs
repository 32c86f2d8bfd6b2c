//! Responses about one intent, and the common OpenAPI parts of all of them.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use coord_protocol::{ErrorCode, IntentResponse};
use utoipa::IntoResponses;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Described};

use crate::examples;
use crate::registered::unknown_intent;
use coord_http::error::Respond;
use coord_http::error::status_of;
use coord_http::json::Json;
use coord_http::openapi::errors::{Cause, Reader, ResponsesByStatus, errors, errors_and, finish, with_error};
use coord_http::openapi::responses::{just, narrow, response};
use coord_server::error::ApiError;

/// Causes of errors about intents.
const READ: [Cause; 5] = [Cause::Caller, Cause::Token, Cause::Form, Cause::Question, Cause::Source];

/// An intent that has to be there.
fn no_intent() -> [ApiError; 1] {
    [unknown_intent("REQ-POOL-2")]
}

/// The response to an operation on one intent.
pub(super) fn respond(answered: Result<IntentResponse, ApiError>) -> Response {
    match answered {
        Ok(response) => {
            let status = response.error.as_ref().map(|error| status_of(error.error));
            (status.unwrap_or(StatusCode::OK), Json(response)).into_response()
        }
        Err(error) => error.respond_to_agent(),
    }
}

/// Those to a request for all intents.
pub(super) enum ListResponses {}

impl IntoResponses for ListResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(&READ, Reader::Agent, "GET, HEAD, POST", None);
        let listed = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("Intents")))
            .example(Some(examples::intents()));
        answers.insert(200, response("The intents", listed));
        finish(answers)
    }
}

/// Those to a request for one intent.
pub(super) enum IntentResponses {}

impl IntoResponses for IntentResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors_and(&READ, &no_intent(), Reader::Agent, "GET, HEAD, PATCH", None);
        answers.insert(200, success("The intent"));
        finish(answers)
    }
}

/// Those to a new intent.
pub(super) enum CreateResponses {}

impl IntoResponses for CreateResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [&READ[..], &[Cause::Body]].concat();
        let answers = errors(&causes, Reader::Agent, "GET, HEAD, POST", None);
        change_answers(answers, &[ErrorCode::IntentExists, ErrorCode::TooManyIntents])
    }
}

/// Those to a change of an intent.
pub(super) enum EditResponses {}

impl IntoResponses for EditResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        change_answers(of_change("GET, HEAD, PATCH"), &[ErrorCode::ScopeFrozen])
    }
}

/// Those to an act.
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
        change_answers(of_change("POST"), &codes)
    }
}

/// Those to a report of costs.
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
        change_answers(errors_and(&causes, &no_intent(), Reader::Agent, "POST", None), &codes)
    }
}

fn of_change(allowed: &'static str) -> ResponsesByStatus {
    let causes = [&READ[..], &[Cause::Body, Cause::Person]].concat();
    errors_and(&causes, &no_intent(), Reader::Agent, allowed, None)
}

fn success(description: &str) -> utoipa::openapi::ResponseBuilder {
    let content = narrow("IntentResponse", "success", just(true), &[]).example(Some(examples::intent_written()));
    response(description, content)
}

fn change_answers(mut answers: ResponsesByStatus, codes: &[ErrorCode]) -> BTreeMap<String, RefOr<Described>> {
    answers.insert(200, success("Done"));
    let refused = with_error(&["IntentResponse", "RefusalCode"], codes);
    answers.insert(409, response("Refused by the rules; nothing was done", refused));
    finish(answers)
}

//! OpenAPI parts of responses about the ledger.

use std::collections::BTreeMap;

use axum::response::{IntoResponse, Response};
use serde_json::Value as Json;
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response as Described};
use utoipa::{IntoResponses, openapi};

use crate::examples;
use coord_http::error::Respond;
use coord_http::openapi::errors::{Cause, Reader, errors, finish};
use coord_http::openapi::responses::response;
use coord_server::error::ApiError;

/// Causes of errors in reading.
const READ: [Cause; 5] = [Cause::Caller, Cause::Token, Cause::Form, Cause::Question, Cause::Source];

/// The response of an operation: every error has a command.
pub(super) fn respond(answered: Result<impl IntoResponse, ApiError>) -> Response {
    match answered {
        Ok(response) => response.into_response(),
        Err(error) => error.respond_to_agent(),
    }
}

/// Those to a request for lines.
pub(super) enum LineResponses {}

impl IntoResponses for LineResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let content = of_schema("LedgerPage", examples::ledger_page());
        describe(&READ, "GET, HEAD, POST", "The lines", content)
    }
}

/// Those to a record.
pub(super) enum RecordResponses {}

impl IntoResponses for RecordResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [&READ[..], &[Cause::Body, Cause::Files]].concat();
        let content = of_schema("RecordResponse", examples::recorded());
        describe(&causes, "GET, HEAD, POST", "What became of each event", content)
    }
}

/// Those to a comparison of files.
pub(super) enum VerifyResponses {}

impl IntoResponses for VerifyResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [&READ[..], &[Cause::Body]].concat();
        let content = of_schema("VerifyResponse", examples::verified());
        describe(&causes, "POST", "The verdicts, in the order of the files", content)
    }
}

/// Those to a request for the map.
pub(super) enum MapResponses {}

impl IntoResponses for MapResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(&READ, Reader::Agent, "GET, HEAD", None);
        let json = of_schema("IntentMap", examples::intent_map());
        let mapped = response("The files and their intents", json);
        answers.insert(200, mapped.content("text/markdown", text().build()));
        finish(answers)
    }
}

/// Those to a request for a checkpoint.
pub(super) enum CheckpointResponses {}

impl IntoResponses for CheckpointResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(&READ, Reader::Agent, "GET, HEAD", None);
        let stated = openapi::ResponseBuilder::new()
            .description("The checkpoint: four lines, and the signature where the operator has set a key")
            .content("text/plain", text().example(Some(examples::checkpoint())).build());
        answers.insert(200, stated);
        finish(answers)
    }
}

fn describe(
    causes: &[Cause],
    allowed: &'static str,
    description: &str,
    content: ContentBuilder,
) -> BTreeMap<String, RefOr<Described>> {
    let mut answers = errors(causes, Reader::Agent, allowed, None);
    answers.insert(200, response(description, content));
    finish(answers)
}

fn of_schema(name: &str, example: Json) -> ContentBuilder {
    ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(name)))
        .example(Some(example))
}

fn text() -> ContentBuilder {
    let text = openapi::ObjectBuilder::new().schema_type(openapi::schema::Type::String);
    ContentBuilder::new().schema(Some(text))
}

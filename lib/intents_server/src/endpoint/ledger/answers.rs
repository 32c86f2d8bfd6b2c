//! OpenAPI parts of responses about the ledger.

use std::collections::BTreeMap;

use axum::response::{IntoResponse, Response};
use utoipa::openapi::{ContentBuilder, RefOr, Response as Described};
use utoipa::{IntoResponses, openapi};

use crate::examples;
use coord_http::error::Respond;
use coord_http::openapi::errors::{Cause, READ, Reader, errors, finish};
use coord_http::openapi::responses::{content, response};
use coord_server::error::ApiError;

/// The response of an operation. Every error has a command.
pub(super) fn respond(result: Result<impl IntoResponse, ApiError>) -> Response {
    match result {
        Ok(response) => response.into_response(),
        Err(error) => error.respond_to_agent(),
    }
}

/// The responses to a request for lines.
pub(super) enum LineResponses {}

impl IntoResponses for LineResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let lines = content("LedgerPage", examples::ledger_page());
        describe(&READ, "GET, HEAD, POST", "The lines", lines)
    }
}

/// The responses to a record.
pub(super) enum RecordResponses {}

impl IntoResponses for RecordResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [&READ[..], &[Cause::Body, Cause::Files]].concat();
        let results = content("RecordResponse", examples::recorded());
        describe(&causes, "GET, HEAD, POST", "The outcome of each event", results)
    }
}

/// The responses to a comparison of files.
pub(super) enum VerifyResponses {}

impl IntoResponses for VerifyResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [&READ[..], &[Cause::Body]].concat();
        let verdicts = content("VerifyResponse", examples::verified());
        describe(&causes, "POST", "The verdicts, in the order of the files", verdicts)
    }
}

/// The responses to a request for the map.
pub(super) enum MapResponses {}

impl IntoResponses for MapResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut responses = errors(&READ, Reader::Agent, "GET, HEAD", None);
        let map = response(
            "The files and their intents",
            content("IntentMap", examples::intent_map()),
        );
        responses.insert(200, map.content("text/markdown", text_content().build()));
        finish(responses)
    }
}

/// The responses to a request for a checkpoint.
pub(super) enum CheckpointResponses {}

impl IntoResponses for CheckpointResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut responses = errors(&READ, Reader::Agent, "GET, HEAD", None);
        let content = text_content().example(Some(examples::checkpoint())).build();
        let checkpoint = openapi::ResponseBuilder::new()
            .description("The checkpoint: four lines, and the signature where the operator has set a key")
            .content("text/plain", content);
        responses.insert(200, checkpoint);
        finish(responses)
    }
}

fn describe(
    causes: &[Cause],
    methods: &'static str,
    description: &str,
    content: ContentBuilder,
) -> BTreeMap<String, RefOr<Described>> {
    let mut responses = errors(causes, Reader::Agent, methods, None);
    responses.insert(200, response(description, content));
    finish(responses)
}

fn text_content() -> ContentBuilder {
    let text = openapi::ObjectBuilder::new().schema_type(openapi::schema::Type::String);
    ContentBuilder::new().schema(Some(text))
}

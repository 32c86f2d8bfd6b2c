//! The error responses by status. Codes and sentences come from the errors themselves.

use std::collections::BTreeMap;

use coord_protocol::bounds::URI_BYTES;
use coord_protocol::schema::{one_of, whole_number};
use coord_protocol::{Action, ErrorBody, ErrorCode, Orchestration};
use serde_json::{Value, json};
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, Response, ResponseBuilder};

use super::responses::text_header;
use crate::body::MAX_BYTES;
use crate::error::Respond;
use coord_domain::{Branch, RepoId};
use coord_server::error::ApiError;
use coord_state::admission::SizeLimit;

pub type ResponsesByStatus = BTreeMap<u16, ResponseBuilder>;

/// A possible cause of an error of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Any request.
    Any,
    Caller,
    /// A token that must be verified.
    Token,
    /// An invalid field, or a malformed body.
    Input,
    /// The repository or branch of the request, or too many requests about it.
    Target,
    /// The source of a repository.
    Source,
    Body,
    /// Too many files, or files with too many neighbors.
    Files,
    /// The file at the center of a graph.
    Focus,
    /// An act that is reserved for persons.
    Person,
}

/// The causes of errors of reads.
pub const READ: [Cause; 5] = [Cause::Caller, Cause::Token, Cause::Input, Cause::Target, Cause::Source];

/// The causes of errors of agents' operations.
pub const AGENT_CAUSES: [Cause; 7] = [
    Cause::Caller,
    Cause::Token,
    Cause::Input,
    Cause::Target,
    Cause::Source,
    Cause::Body,
    Cause::Files,
];

/// The reader of an error. An agent's error also has `orchestration`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Person,
    Agent,
}

/// The cause of an error; `None` if no operation has the error, or each operation documents its own.
/// An error with a cause needs an example in [`sample_errors`].
fn cause_of(error: &ApiError) -> Option<Cause> {
    match error {
        ApiError::InvalidField { .. } | ApiError::MalformedBody { .. } => Some(Cause::Input),
        ApiError::ForbiddenRepository(_)
        | ApiError::UnknownRepository { .. }
        | ApiError::UnknownBranch { .. }
        | ApiError::RateLimited { .. } => Some(Cause::Target),
        ApiError::SourceUnavailable(_) | ApiError::SourceLimited { .. } => Some(Cause::Source),
        ApiError::SlowBody(_)
        | ApiError::TooLarge(_)
        | ApiError::TooManyBodies { .. }
        | ApiError::UnsupportedEncoding
        | ApiError::UnsupportedMediaType => Some(Cause::Body),
        ApiError::TooMuchAtOnce(_) => Some(Cause::Files),
        ApiError::Unauthorized(_) => Some(Cause::Caller),
        ApiError::IdentityUnavailable(_) => Some(Cause::Token),
        ApiError::UnknownFile { .. } => Some(Cause::Focus),
        ApiError::PersonRequired(_) => Some(Cause::Person),
        ApiError::Forbidden(_)
        | ApiError::Internal
        | ApiError::StoreUnavailable(_)
        | ApiError::TimedOut(_)
        | ApiError::UriTooLong(_) => Some(Cause::Any),
        ApiError::NoServer { .. }
        | ApiError::UnknownRoute { .. }
        | ApiError::MethodNotAllowed { .. }
        | ApiError::TooManyLocks(_)
        | ApiError::LockTaken(_)
        | ApiError::Extension(_) => None,
    }
}

/// One error of each kind.
fn sample_errors() -> Vec<ApiError> {
    let (Ok(shop), Ok(other)) = (
        RepoId::parse("https://github.com/acme/shop"),
        RepoId::parse("https://github.com/acme/other"),
    ) else {
        return Vec::new();
    };
    let branch_problem = Branch::parse("a b").map_or_else(|invalid| invalid.0, |branch| branch.to_string());
    vec![
        ApiError::invalid_field("branch", branch_problem),
        ApiError::MalformedBody {
            field: Some("status".to_owned()),
            message: "status is wrong: unknown value `WRITTING`, expected one of `READING`, `WRITING`, `OPEN`"
                .to_owned(),
        },
        ApiError::SlowBody(10),
        ApiError::Unauthorized("send a token: Authorization: Bearer JWT".to_owned()),
        ApiError::Forbidden(
            "this server accepts only requests to localhost; to serve other hosts, set COORD_JWT_SECRET".to_owned(),
        ),
        ApiError::ForbiddenRepository(format!(
            "GitHub does not let this token read {shop}: Resource not accessible by integration"
        )),
        ApiError::UnknownRepository {
            repo: other,
            known: vec![shop.to_string()],
            renamed_to: None,
        },
        ApiError::UnknownBranch {
            repo: shop,
            branch: "mian".to_owned(),
            suggestions: vec!["main".to_owned()],
            is_empty: false,
            hint: None,
        },
        ApiError::UnknownFile {
            path: "src/login.ts".to_owned(),
            version: "9bee4e1".to_owned(),
        },
        ApiError::PersonRequired(
            "only a person may unblock an intent: ask your user to send the request without agent_id".to_owned(),
        ),
        ApiError::TooLarge(MAX_BYTES),
        ApiError::TooMuchAtOnce(SizeLimit::Neighbors),
        ApiError::UriTooLong(URI_BYTES),
        ApiError::UnsupportedEncoding,
        ApiError::UnsupportedMediaType,
        ApiError::RateLimited {
            retry_after_seconds: 5,
            reason: "you send too many requests",
        },
        ApiError::TooManyBodies { retry_after_seconds: 5 },
        ApiError::Internal,
        ApiError::TimedOut(25),
        ApiError::IdentityUnavailable(
            "the issuer's keys cannot be fetched, so this token cannot be verified; try again soon".to_owned(),
        ),
        ApiError::StoreUnavailable("the store that holds the locks cannot be reached; try again soon".to_owned()),
        ApiError::SourceUnavailable("the repository cannot be read; try again soon".to_owned()),
        ApiError::SourceLimited {
            retry_after_seconds: 60,
        },
    ]
}

/// The schema of a complete response, and an example of it for the message of an error.
pub type Offline = (&'static str, fn(&str) -> Value);

/// The errors of `causes`, and 405 for an endpoint that accepts the methods `allowed`.
///
/// With `offline`, the body of a 503 is a complete response with the error's fields added.
pub fn errors(causes: &[Cause], reader: Reader, allowed: &'static str, offline: Option<Offline>) -> ResponsesByStatus {
    errors_and(causes, &[], reader, allowed, offline)
}

/// Like [`errors`], with the errors `more` added.
pub fn errors_and(
    causes: &[Cause],
    more: &[ApiError],
    reader: Reader,
    allowed: &'static str,
    offline: Option<Offline>,
) -> ResponsesByStatus {
    let mut by_status: BTreeMap<u16, Vec<ErrorBody>> = BTreeMap::new();
    let is_possible = |cause: Cause| cause == Cause::Any || causes.contains(&cause);
    let samples = sample_errors();
    for error in samples.iter().filter(|error| cause_of(error).is_some_and(is_possible)) {
        let bodies = by_status.entry(error.status().as_u16()).or_default();
        // One example of each code.
        if bodies.iter().all(|body| body.error != error.code()) {
            bodies.push(error.body());
        }
    }
    for error in more {
        by_status.entry(error.status().as_u16()).or_default().push(error.body());
    }
    let not_allowed = ApiError::MethodNotAllowed { allowed };
    by_status.insert(not_allowed.status().as_u16(), vec![not_allowed.body()]);
    by_status
        .into_iter()
        .map(|(status, bodies)| {
            let codes: Vec<ErrorCode> = bodies.iter().map(|body| body.error).collect();
            let offline = offline.as_ref().filter(|_| status == 503);
            let schemas = match offline {
                Some((schema, _)) => vec![*schema, "ErrorBody"],
                _ if reader == Reader::Agent || status == 500 => vec!["AgentError"],
                _ => vec!["ErrorBody"],
            };
            let examples = bodies.iter().map(|body| {
                let mut example = json!(body);
                if let Some((_, full_response)) = offline {
                    example = full_response(&body.message);
                    merge(&mut example, &json!(body));
                } else if schemas == ["AgentError"] {
                    let action = if status == 429 { Action::Wait } else { Action::Stop };
                    example["orchestration"] = json!(Orchestration::new(action, body.message.clone()));
                }
                (body.error.as_str(), example)
            });
            let content = with_error(&schemas, &codes).examples_from_iter(examples.map(|(code, example)| {
                let example = utoipa::openapi::example::ExampleBuilder::new().value(Some(example));
                (code, example)
            }));
            let mut response = ResponseBuilder::new()
                .description(describe_status(status))
                .content("application/json", content.build());
            if let Some((name, header)) = status_header(status, allowed) {
                response = response.header(name, header);
            }
            (status, response)
        })
        .collect()
}

/// A body that satisfies all `schemas`, with one of `codes` as its error.
pub fn with_error(schemas: &[&str], codes: &[ErrorCode]) -> ContentBuilder {
    let codes: Vec<&'static str> = codes.iter().map(|code| code.as_str()).collect();
    let code = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property("error", one_of(&codes, "A stable code"));
    let all = schemas
        .iter()
        .fold(AllOfBuilder::new(), |all, name| all.item(Ref::from_schema_name(*name)));
    ContentBuilder::new().schema(Some(all.item(code)))
}

fn merge(into: &mut Value, more: &Value) {
    if let (Some(fields), Some(more)) = (into.as_object_mut(), more.as_object()) {
        fields.extend(more.clone());
    }
}

fn describe_status(status: u16) -> &'static str {
    match status {
        400 => "A field is missing or not valid, or the request cannot be read",
        401 => "No credential, or a bad one",
        403 => {
            "The credential is not valid for this repository, the request is not for this server, or it takes a person"
        }
        404 => "Unknown repository, branch, file or intent",
        405 => "The endpoint does not accept this method",
        413 => "The body is too large, or the files have too many locks or neighbors for one request",
        414 => "The path and query are too long",
        415 => "The Content-Type is not JSON in UTF-8, or the body is compressed",
        429 => "Too many requests",
        500 => "An internal error of the server",
        _ => "The store, the repository or the verification of callers is unavailable, or the request took too long",
    }
}

/// Adds the header that says when to try again.
pub fn retry_later(response: ResponseBuilder) -> ResponseBuilder {
    match status_header(503, "") {
        Some((name, header)) => response.header(name, header),
        None => response,
    }
}

fn status_header(status: u16, allowed: &str) -> Option<(&'static str, Header)> {
    match status {
        401 => Some((
            "WWW-Authenticate",
            text_header("How to send a credential", "Bearer realm=\"coord\""),
        )),
        405 => Some(("Allow", text_header("The methods that the endpoint accepts", allowed))),
        429 | 503 => Some((
            "Retry-After",
            HeaderBuilder::new()
                .schema(Some(whole_number(0)))
                .description(Some("Seconds until the request may be repeated"))
                .build(),
        )),
        _ => None,
    }
}

/// Builds the responses in the form that `utoipa` accepts.
pub fn finish(responses: ResponsesByStatus) -> BTreeMap<String, utoipa::openapi::RefOr<Response>> {
    responses
        .into_iter()
        .map(|(status, response)| (status.to_string(), response.build().into()))
        .collect()
}

//! The errors by status. Codes and sentences come from the errors themselves.

use std::collections::BTreeMap;

use coord_protocol::bounds::URI_BYTES;
use coord_protocol::schema::{one_of, whole_number};
use coord_protocol::{Action, ErrorBody, ErrorCode, Orchestration};
use serde_json::{Value, json};
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, Response, ResponseBuilder};

use crate::body::MAX_BYTES;
use crate::error::Respond;
use coord_domain::{Branch, RepoId};
use coord_server::error::ApiError;
use coord_state::admission::SizeLimit;

/// Answers by status.
pub type ResponsesByStatus = BTreeMap<u16, ResponseBuilder>;

/// Causes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Any request.
    Any,
    Caller,
    /// A token, which must be verified.
    Token,
    /// A field, or the form of the whole.
    Form,
    /// A repository, or how often it is asked about.
    Question,
    /// Questions to the source of a repository.
    Source,
    Body,
    /// Very many files, or such as have very many neighbors.
    Files,
    /// A file that a graph should be around.
    Focus,
    /// Acts reserved for persons.
    Person,
}

/// Causes of errors of agents' operations.
pub const OF_AGENTS: [Cause; 7] = [
    Cause::Caller,
    Cause::Token,
    Cause::Form,
    Cause::Question,
    Cause::Source,
    Cause::Body,
    Cause::Files,
];

/// The fields of a body besides the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Nothing.
    Person,
    Agent,
}

struct Case {
    cause: Cause,
    status: u16,
    body: ErrorBody,
}

/// The cause of an error; `None` if no operation has it, or each has its own. An error that is new here belongs into
/// [`cases`] as well.
fn cause(error: &ApiError) -> Option<Cause> {
    match error {
        ApiError::InvalidField { .. } | ApiError::MalformedBody { .. } => Some(Cause::Form),
        ApiError::ForbiddenRepository(_)
        | ApiError::UnknownRepository { .. }
        | ApiError::UnknownBranch { .. }
        | ApiError::RateLimited { .. } => Some(Cause::Question),
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
        | ApiError::OfExtension(_) => None,
    }
}

/// One error of each kind.
fn cases() -> Vec<Case> {
    let repo = |name: &str| RepoId::parse(name).ok();
    let (Some(shop), Some(other)) = (
        repo("https://github.com/acme/shop"),
        repo("https://github.com/acme/other"),
    ) else {
        return Vec::new();
    };
    let no_branch = Branch::parse("a b").map_or_else(|invalid| invalid.0, |branch| branch.to_string());
    let errors = [
        ApiError::InvalidField {
            field: "branch",
            problem: no_branch,
        },
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
            near: vec!["main".to_owned()],
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
            whose: "you send too many requests",
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
    ];
    let case = |error: &ApiError| {
        Some(Case {
            cause: cause(error)?,
            status: error.status().as_u16(),
            body: error.body(),
        })
    };
    errors.iter().filter_map(case).collect()
}

/// A schema, and what it is like beside an error with that sentence.
pub type Offline = (&'static str, fn(&str) -> Value);

/// The errors of `causes`, and 405 of an endpoint that takes `allowed`. If the store cannot be reached (503), the body is a
/// complete response of the schema `offline`, if there is one, with the error besides.
pub fn errors(causes: &[Cause], reader: Reader, allowed: &'static str, offline: Option<Offline>) -> ResponsesByStatus {
    errors_and(causes, &[], reader, allowed, offline)
}

/// The same, and `more` errors.
pub fn errors_and(
    causes: &[Cause],
    more: &[ApiError],
    reader: Reader,
    allowed: &'static str,
    offline: Option<Offline>,
) -> ResponsesByStatus {
    let mut by_status: BTreeMap<u16, Vec<ErrorBody>> = BTreeMap::new();
    for case in cases() {
        if case.cause == Cause::Any || causes.contains(&case.cause) {
            let bodies = by_status.entry(case.status).or_default();
            // One example of each code.
            if bodies.iter().all(|body| body.error != case.body.error) {
                bodies.push(case.body);
            }
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
            let is_whole = status == 503 && offline.is_some();
            let schemas = match &offline {
                Some((schema, _)) if is_whole => vec![*schema, "ErrorBody"],
                _ if reader == Reader::Agent || status == 500 => vec!["AgentError"],
                _ => vec!["ErrorBody"],
            };
            let examples = bodies.iter().map(|body| {
                let mut example = json!(body);
                if let Some((_, answer)) = offline.as_ref().filter(|_| is_whole) {
                    example = answer(&body.message);
                    merge(&mut example, &json!(body));
                } else if schemas == ["AgentError"] {
                    let action = if status == 429 { Action::Wait } else { Action::Stop };
                    example["orchestration"] = json!(Orchestration::new(action, body.message.clone()));
                }
                (body.error.as_str(), example)
            });
            let answer = with_error(&schemas, &codes).examples_from_iter(examples.map(|(code, example)| {
                let example = utoipa::openapi::example::ExampleBuilder::new().value(Some(example));
                (code, example)
            }));
            let mut response = ResponseBuilder::new()
                .description(describe(status))
                .content("application/json", answer.build());
            if let Some((name, header)) = header_of(status, allowed) {
                response = response.header(name, header);
            }
            (status, response)
        })
        .collect()
}

/// A body that all of `schemas` hold for, with one of `codes` as its error.
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

fn describe(status: u16) -> &'static str {
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

/// `response` with the header that says when to ask again.
pub fn retry_later(response: ResponseBuilder) -> ResponseBuilder {
    match header_of(503, "") {
        Some((name, header)) => response.header(name, header),
        None => response,
    }
}

fn header_of(status: u16, allowed: &str) -> Option<(&'static str, Header)> {
    let text = |description: &str, value: &str| {
        let schema = ObjectBuilder::new().schema_type(Type::String).examples([value]);
        HeaderBuilder::new()
            .schema(Some(schema))
            .description(Some(description))
            .build()
    };
    match status {
        401 => Some((
            "WWW-Authenticate",
            text("How to send a credential", "Bearer realm=\"coord\""),
        )),
        405 => Some(("Allow", text("The methods that the endpoint accepts", allowed))),
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

/// As `utoipa` takes them.
pub fn finish(answers: ResponsesByStatus) -> BTreeMap<String, utoipa::openapi::RefOr<Response>> {
    answers
        .into_iter()
        .map(|(status, response)| (status.to_string(), response.build().into()))
        .collect()
}

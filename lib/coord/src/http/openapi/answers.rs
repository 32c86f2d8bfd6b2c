//! What each operation answers.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::IntoResponses;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Response, ResponseBuilder};

use super::errors::{Answers, Cause, Reader, errors, finish, retry_later, with_error};
use super::examples;
use crate::sweep::SweepReport;
use coord_protocol::ErrorCode;
use coord_protocol::schema::one_of;

/// Answers of `check_status`.
pub(in crate::http) enum CheckAnswers {}

/// Answers of `post_status`.
pub(in crate::http) enum PostAnswers {}

/// Answers of `graph`.
pub(in crate::http) enum GraphAnswers {}

/// Answers of `locks`.
pub(in crate::http) enum LocksAnswers {}

/// Answers of `cron_cleanup`.
pub(in crate::http) enum SweepAnswers {}

/// Answers of `health`.
pub(in crate::http) enum HealthAnswers {}

/// Answers of `github_webhook`.
pub(in crate::http) enum WebhookAnswers {}

const OF_AGENTS: [Cause; 7] = [
    Cause::Caller,
    Cause::Token,
    Cause::Form,
    Cause::Question,
    Cause::Source,
    Cause::Body,
    Cause::Files,
];

/// A schema that narrows `property` of another.
fn narrowed(name: &str, property: &str, schema: impl Into<RefOr<Schema>>, required: &[&str]) -> ContentBuilder {
    let mut part = ObjectBuilder::new()
        .schema_type(Type::Object)
        .property(property, schema);
    for field in required {
        part = part.required(*field);
    }
    let all = AllOfBuilder::new().item(Ref::from_schema_name(name)).item(part);
    ContentBuilder::new().schema(Some(all))
}

fn just(value: bool) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Boolean)
        .enum_values(Some([value]))
}

fn answer(description: &str, content: ContentBuilder) -> ResponseBuilder {
    ResponseBuilder::new()
        .description(description)
        .content("application/json", content.build())
}

impl IntoResponses for CheckAnswers {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut answers = errors(
            &OF_AGENTS,
            Reader::Agent,
            "POST",
            Some(("CheckResponse", examples::offline_check)),
        );
        let status = one_of(
            &["OK", "STALE", "CONFLICT"],
            "CONFLICT: another's lock stands in the way. STALE: the working copy is behind. OK: neither",
        );
        let content = narrowed("CheckResponse", "status", status, &[]).example(Some(examples::check_conflict()));
        answers.insert(200, answer("What stands in the way, and what to do", content));
        finish(answers)
    }
}

impl IntoResponses for PostAnswers {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut answers = errors(
            &OF_AGENTS,
            Reader::Agent,
            "POST",
            Some(("PostResponse", examples::offline_post)),
        );
        let granted =
            narrowed("PostResponse", "success", just(true), &["locks"]).example(Some(examples::post_granted()));
        answers.insert(200, answer("Claimed, renewed, or given back", granted));
        let codes = [
            ErrorCode::LockConflict,
            ErrorCode::LockLost,
            ErrorCode::NotPushed,
            ErrorCode::StaleHead,
            ErrorCode::TooManyLocks,
        ];
        let refused = with_error(&["PostResponse", "ErrorBody"], &codes).example(Some(examples::post_refused()));
        let why = "Refused by the rules, and nothing was changed: another's lock stands in the way (LOCK_CONFLICT, WAIT), the \
                   working copy is behind (STALE_HEAD, PULL), what was written is not pushed (NOT_PUSHED, PUSH), a lock is now \
                   another's (LOCK_LOST, STOP), or there is no room for more locks (TOO_MANY_LOCKS: STOP where the caller has \
                   too many, WAIT where a file or the repository has)";
        answers.insert(409, answer(why, refused));
        finish(answers)
    }
}

impl IntoResponses for GraphAnswers {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let causes = [
            Cause::Caller,
            Cause::Token,
            Cause::Form,
            Cause::Question,
            Cause::Source,
            Cause::Focus,
        ];
        let mut answers = errors(&causes, Reader::Person, "GET, HEAD", None);
        let version = RefOr::from(Ref::from_schema_name("CommitSha"));
        let ready = narrowed("Graph", "version", version, &[]).example(Some(examples::graph()));
        answers.insert(
            200,
            tagged(answer("The graph of the branch, or of an older commit of it", ready)),
        );
        let building = narrowed("Graph", "state", one_of(&["building"], "Always `building`"), &[]);
        let building = building.example(Some(examples::building_graph()));
        answers.insert(
            202,
            tagged(answer("The graph is being built for the first time", building)),
        );
        let same = ResponseBuilder::new().description("What `If-None-Match` names is still the answer");
        answers.insert(304, tagged(same));
        finish(answers)
    }
}

impl IntoResponses for LocksAnswers {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let causes = [Cause::Caller, Cause::Token, Cause::Form, Cause::Question, Cause::Source];
        let mut answers = errors(&causes, Reader::Person, "GET, HEAD", None);
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("Locks")))
            .example(Some(examples::locks()));
        answers.insert(200, answer("Who holds what", content));
        finish(answers)
    }
}

fn tagged(response: ResponseBuilder) -> ResponseBuilder {
    let header = |description: &str, value: &str| {
        let schema = ObjectBuilder::new().schema_type(Type::String).examples([value]);
        HeaderBuilder::new()
            .schema(Some(schema))
            .description(Some(description))
            .build()
    };
    response
        .header(
            "ETag",
            header("Names everything that the answer follows from", "W/\"5d1d7ac5f0\""),
        )
        .header("Cache-Control", header("Ask again each time", "private, no-cache"))
        .header(
            "Vary",
            header("What the answer depends on", "authorization, accept-encoding"),
        )
}

impl IntoResponses for SweepAnswers {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut answers: Answers = errors(&[Cause::Caller], Reader::Person, "GET, HEAD", None);
        let report: Value = json!(SweepReport {
            is_complete: true,
            ..SweepReport::default()
        });
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("SweepReport")))
            .example(Some(report));
        answers.insert(200, answer("What the sweep did", content));
        finish(answers)
    }
}

impl IntoResponses for HealthAnswers {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let mut answers: Answers = errors(&[], Reader::Person, "GET, HEAD", None);
        let report = Ref::from_schema_name("HealthReport");
        let content = ContentBuilder::new()
            .schema(Some(report.clone()))
            .example(Some(examples::health()));
        answers.insert(
            200,
            answer(
                "Locks work; where `status` is `degraded`, no repository can be read",
                content,
            ),
        );
        let either = OneOfBuilder::new()
            .item(report)
            .item(Ref::from_schema_name("ErrorBody"));
        let down = answer(
            "The store cannot be reached, or is not configured",
            ContentBuilder::new().schema(Some(either)),
        );
        answers.insert(503, retry_later(down));
        finish(answers)
    }
}

impl IntoResponses for WebhookAnswers {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let causes = [Cause::Caller, Cause::Form, Cause::Source, Cause::Body];
        let mut answers: Answers = errors(&causes, Reader::Person, "POST", None);
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("WebhookResponse")))
            .example(Some(json!({ "outcome": "moved" })));
        answers.insert(200, answer("What became of the delivery", content));
        finish(answers)
    }
}

//! `GET /api/activity`: the events of a repository. The function of `graph` serves it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::routing::{MethodRouter, get};
use coord_protocol::ActivityResponse;
use coord_protocol::schema::{Branch as BranchName, EventId as EventName, FilePath as FilePathName, RepoUrl};
use serde::Deserialize;
use utoipa::openapi::{RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi};

use crate::error::HandlerError;
use crate::headers::agent_header;
use crate::json::Json;
use crate::openapi::errors::{READ, Reader, errors, finish};
use crate::openapi::examples;
use crate::openapi::fields::AgentHeaders;
use crate::openapi::responses::{content, response};
use coord_auth::Caller;
use coord_domain::{Branch, EventId, FilePath};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{agent_of, parse_count, parse_optional, parse_repository};
use coord_server::operations::{ActivityRequest, EventRange, list_activity};

/// Maximum number of events in a response.
const MAX_EVENTS: usize = 100;

/// The number of events without `limit`.
const DEFAULT_EVENTS: usize = 50;

/// The query as sent.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ActivityQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// Events of this branch alone, among the newest 500, or the 500 that follow `after`; without it, of all branches.
    #[param(value_type = BranchName, required = false, example = "main")]
    branch: Option<String>,
    /// The `cursor` of an earlier answer: the events that follow it, the oldest first. Without it, the newest.
    #[param(value_type = EventName, required = false)]
    after: Option<String>,
    /// The `id` of an event: those that came before it, the newest first.
    #[param(value_type = EventName, required = false)]
    before: Option<String>,
    /// Events that name this file alone, among 500 as with `branch`. An event names 20 files at most.
    #[param(value_type = FilePathName, required = false, example = "src/db.ts")]
    file: Option<String>,
    /// Most events; 50 by default.
    #[param(value_type = u32, required = false, minimum = 1, maximum = 100)]
    limit: Option<String>,
}

impl ActivityQuery {
    /// Parses the query.
    ///
    /// # Errors
    /// When a field is missing or invalid, or the caller has no right to the repository.
    pub fn parse(&self, caller: Caller, agent: Option<&str>) -> Result<ActivityRequest, ApiError> {
        let (repo, caller) = parse_repository(&self.repo_url, caller)?;
        let branch = parse_optional("branch", self.branch.as_deref(), Branch::parse)?;
        let file = parse_optional("file", self.file.as_deref(), FilePath::parse)?;
        let after = parse_optional("after", self.after.as_deref(), EventId::parse)?;
        let before = parse_optional("before", self.before.as_deref(), EventId::parse)?;
        let range = match (after, before) {
            (None, None) => EventRange::Newest,
            (Some(after), None) => EventRange::After(after),
            (None, Some(before)) => EventRange::Before(before),
            (Some(_), Some(_)) => {
                let problem = "cannot be combined with after; send one of the two";
                return Err(ApiError::invalid_field("before", problem));
            }
        };
        let limit = match &self.limit {
            None => DEFAULT_EVENTS,
            Some(text) => parse_count("limit", text, MAX_EVENTS)?,
        };
        Ok(ActivityRequest {
            repo,
            branch,
            file,
            range,
            limit,
            caller,
            caller_agent: agent_of(None, agent)?,
        })
    }
}

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_activity)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(get_activity), components(schemas(ActivityResponse)))]
pub(super) struct Document;

/// The events of a repository.
///
/// `GET /api/activity?repo_url=URL[&branch=NAME][&file=PATH][&after=CURSOR][&before=ID][&limit=NUMBER]`. To follow, ask again with the `cursor` of the last answer as `after`; to go
/// back, with `earlier` as `before`. The event `graph_progress` is sent while the graph is built; it is in no log, and not here.
#[utoipa::path(
    get,
    path = "/api/activity",
    tag = "people",
    params(ActivityQuery, AgentHeaders),
    responses(ActivityResponses),
    security(("bearer" = []))
)]
async fn get_activity(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<ActivityQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<ActivityResponse>, HandlerError> {
    let caller = app.authenticator.authenticate_reader(&headers).await?;
    let Query(query) = query.map_err(|_| {
        ApiError::malformed(
            "the query is not valid; send repo_url, and optionally branch, file, after, before and limit, each once",
        )
    })?;
    let request = query.parse(caller, agent_header(&headers))?;
    Ok(Json(list_activity(&app, request).await?))
}

/// Its responses in the OpenAPI document.
enum ActivityResponses {}

impl IntoResponses for ActivityResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(&READ, Reader::Person, "GET, HEAD", None);
        let events = content("Activity", examples::activity());
        answers.insert(200, response("What has happened", events));
        finish(answers)
    }
}

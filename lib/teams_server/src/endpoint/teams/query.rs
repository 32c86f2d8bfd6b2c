//! The queries of requests about teams.

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use coord_protocol::schema::{AgentId, FilePath, Handle, RepoUrl, TaskId, TeamName, one_of};
use coord_protocol::tasks::TaskStatus;
use coord_protocol::teams::TeamCaller;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;
use utoipa::openapi::schema::Object;

use crate::operations::teams::{HistoryRequest, TasksRequest};
use coord_server::error::ApiError;
use coord_teams_state::tasks::Readiness;

/// A query, or the error of one that cannot be read.
pub(super) struct ParsedQuery<T>(pub Result<T, ApiError>);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for ParsedQuery<T> {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let query: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        Ok(ParsedQuery(query.map(|Query(query)| query).map_err(|_| {
            ApiError::malformed("the query is not valid; send repo_url, and each other parameter once and in its form")
        })))
    }
}

macro_rules! of_callers {
    ($($query:ty),*) => {$(
        impl $query {
            pub fn caller(&self) -> TeamCaller {
                TeamCaller {
                    repo_url: self.repo_url.clone(),
                    team: self.team.clone(),
                    agent_id: self.agent_id.clone(),
                }
            }
        }
    )*};
}

of_callers!(TasksQuery, TaskQuery, TaskRemovalQuery, MessagesQuery);

/// The query for the teams of a repository, or for one of them.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TeamsQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    pub repo_url: Option<String>,
}

/// The query of a removal of a team.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RemovalQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    pub repo_url: Option<String>,
    /// The calling agent; overrides the header `X-Coord-Agent`.
    #[param(value_type = AgentId, required = false)]
    pub agent_id: Option<String>,
}

/// The query for tasks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TasksQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// The team; may be omitted by a member of only one.
    #[param(value_type = TeamName, required = false)]
    team: Option<String>,
    /// The calling agent; overrides the header `X-Coord-Agent`.
    #[param(value_type = AgentId, required = false)]
    agent_id: Option<String>,
    /// Only tasks of this status.
    #[param(schema_with = status, required = false)]
    status: Option<String>,
    /// Only tasks of this owner.
    #[param(value_type = Handle, required = false)]
    owner: Option<String>,
    /// Only tasks that may be claimed (`ready`), that depend on others (`blocked`), or that have no owner and are not completed
    /// (`unclaimed`).
    #[param(schema_with = readiness, required = false)]
    readiness: Option<String>,
    /// Only tasks about this file.
    #[param(value_type = FilePath, required = false)]
    file: Option<String>,
    /// Only tasks with this text in the title.
    #[param(required = false, nullable = false, max_length = 200)]
    text: Option<String>,
    /// The `next` of the previous page.
    #[param(required = false, nullable = false, maximum = 999_999_999_999_u64)]
    after: Option<u64>,
    /// Maximum number of tasks; 100 if omitted.
    #[param(required = false, nullable = false, minimum = 1, maximum = 500)]
    limit: Option<usize>,
    /// Whether the tasks have their descriptions.
    #[param(required = false, nullable = false)]
    descriptions: Option<bool>,
}

fn status() -> Object {
    one_of(&["pending", "in_progress", "completed"], "Only tasks of this status")
}

fn readiness() -> Object {
    one_of(
        &["ready", "blocked", "unclaimed"],
        "Only tasks that may be claimed, that may not yet, or that have no owner",
    )
}

impl TasksQuery {
    pub fn parse<'a>(&'a self, caller: &'a TeamCaller) -> Result<TasksRequest<'a>, ApiError> {
        let invalid = |field, problem: &str| ApiError::invalid_field(field, problem);
        Ok(TasksRequest {
            caller,
            status: match self.status.as_deref() {
                None => None,
                Some("pending") => Some(TaskStatus::Pending),
                Some("in_progress") => Some(TaskStatus::InProgress),
                Some("completed") => Some(TaskStatus::Completed),
                Some(_) => return Err(invalid("status", "must be pending, in_progress or completed")),
            },
            owner: self.owner.as_deref(),
            readiness: match self.readiness.as_deref() {
                None => None,
                Some("ready") => Some(Readiness::Ready),
                Some("blocked") => Some(Readiness::Blocked),
                Some("unclaimed") => Some(Readiness::Unclaimed),
                Some(_) => return Err(invalid("readiness", "must be ready, blocked or unclaimed")),
            },
            file: self.file.as_deref(),
            text: self.text.as_deref(),
            after: self.after.unwrap_or_default(),
            limit: self.limit,
            has_descriptions: self.descriptions == Some(true),
        })
    }
}

/// The query for one task.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TaskQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    pub repo_url: Option<String>,
    /// The team; may be omitted by a member of only one.
    #[param(value_type = TeamName, required = false)]
    pub team: Option<String>,
    /// The calling agent; overrides the header `X-Coord-Agent`.
    #[param(value_type = AgentId, required = false)]
    pub agent_id: Option<String>,
}

/// The query of a removal of a task.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TaskRemovalQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    pub repo_url: Option<String>,
    /// The team; may be omitted by a member of only one.
    #[param(value_type = TeamName, required = false)]
    pub team: Option<String>,
    /// The calling agent; overrides the header `X-Coord-Agent`.
    #[param(value_type = AgentId, required = false)]
    pub agent_id: Option<String>,
    /// Whether the task goes even if others depend on it.
    #[param(required = false, nullable = false)]
    pub unlink: Option<bool>,
}

/// The query for messages.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct MessagesQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// The team; may be omitted by a member of only one.
    #[param(value_type = TeamName, required = false)]
    team: Option<String>,
    /// The calling agent; overrides the header `X-Coord-Agent`.
    #[param(value_type = AgentId, required = false)]
    agent_id: Option<String>,
    /// Only messages from or to this member.
    #[param(value_type = Handle, required = false)]
    member: Option<String>,
    /// Only messages about this task.
    #[param(value_type = TaskId, required = false)]
    task: Option<String>,
    /// The `earlier` of the previous page.
    #[param(required = false, nullable = false, minimum = 1, maximum = 999_999_999_999_u64)]
    before: Option<u64>,
    /// Maximum number of messages; 100 if omitted.
    #[param(required = false, nullable = false, minimum = 1, maximum = 500)]
    limit: Option<usize>,
}

impl MessagesQuery {
    pub fn parse<'a>(&'a self, caller: &'a TeamCaller) -> HistoryRequest<'a> {
        HistoryRequest {
            caller,
            member: self.member.as_deref(),
            task: self.task.as_deref(),
            before: self.before,
            limit: self.limit,
        }
    }
}

//! The query of requests that read intents.

use axum::extract::rejection::QueryRejection;
use coord_intents::intent::Status;
use coord_protocol::IntentsView;
use coord_protocol::schema::{Branch as BranchName, RepoUrl, one_of};
use serde::Deserialize;
use utoipa::openapi::schema::Object;

use crate::operations::intents::IntentsRequest;
use coord_auth::Caller;
use coord_server::error::ApiError;

/// The query as sent.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct IntentsQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// Only intents of this status.
    #[param(schema_with = status, required = false)]
    status: Option<String>,
    /// `state`: with owned files and locks. `context`: with text for the prompt of the caller.
    #[param(schema_with = view, required = false)]
    view: Option<String>,
    /// The branch of the caller's work, for the context; `main` if omitted.
    #[param(value_type = BranchName, required = false, example = "main")]
    branch: Option<String>,
}

/// The query for one intent, as sent.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct IntentQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// `context`: with text for the prompt of an agent that works on it.
    #[param(schema_with = context, required = false)]
    view: Option<String>,
    /// The branch of the caller's work, for the context; `main` if omitted.
    #[param(value_type = BranchName, required = false, example = "main")]
    branch: Option<String>,
}

fn status() -> Object {
    one_of(&Status::ALL.map(Status::as_str), "Only intents of this status")
}

fn view() -> Object {
    one_of(&["state", "context"], "Additional data to return")
}

fn context() -> Object {
    one_of(&["context"], "Additional data to return")
}

impl IntentsQuery {
    pub fn parse<'a>(&'a self, caller: Caller, agent: Option<&'a str>) -> Result<IntentsRequest<'a>, ApiError> {
        let status = self.status.as_deref().map(|name| {
            let problem = "must be PENDING, IN_PROGRESS, COMPLETED, ABANDONED or BLOCKED";
            Status::parse(name).ok_or_else(|| ApiError::invalid_field("status", problem))
        });
        Ok(IntentsRequest {
            repo_url: &self.repo_url,
            branch: self.branch.as_deref(),
            status: status.transpose()?,
            view: match self.view.as_deref() {
                None => IntentsView::List,
                Some("state") => IntentsView::State,
                Some("context") => IntentsView::Context,
                Some(_) => return Err(ApiError::invalid_field("view", "must be state or context")),
            },
            caller,
            agent,
        })
    }
}

impl IntentQuery {
    pub fn parse<'a>(&'a self, caller: Caller, agent: Option<&'a str>) -> Result<IntentsRequest<'a>, ApiError> {
        Ok(IntentsRequest {
            repo_url: &self.repo_url,
            branch: self.branch.as_deref(),
            status: None,
            view: match self.view.as_deref() {
                None => IntentsView::List,
                Some("context") => IntentsView::Context,
                Some(_) => return Err(ApiError::invalid_field("view", "must be context")),
            },
            caller,
            agent,
        })
    }
}

/// The error of a query that cannot be read.
pub(super) fn unreadable(_: QueryRejection) -> ApiError {
    ApiError::malformed("the query is not valid; send repo_url, and optionally view, status and branch, each once")
}

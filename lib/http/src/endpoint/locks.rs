//! `GET /api/locks`: the locks of a repository, without its graph. The function of `graph` serves it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::routing::{MethodRouter, get};
use coord_protocol::LocksResponse;
use coord_protocol::schema::{AgentId, Branch as BranchName, RepoUrl};
use serde::Deserialize;
use utoipa::openapi::{RefOr, Response as Described};
use utoipa::{IntoResponses, OpenApi};

use crate::error::HandlerError;
use crate::headers::agent_header;
use crate::json::Json;
use crate::openapi::errors::{READ, Reader, errors, finish};
use crate::openapi::examples;
use crate::openapi::fields::{self, AgentHeaders};
use crate::openapi::responses::{content, response};
use coord_auth::Caller;
use coord_domain::Branch;
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{agent_of, parse_optional, parse_repository};
use coord_server::operations::{LocksRequest, list_locks};

/// The query as sent.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LocksQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// Only locks on this branch; by default, on all branches.
    #[param(value_type = BranchName, required = false, example = "main")]
    branch: Option<String>,
    /// `me`: only the caller's locks, those of all of its agents unless `agent_id` names one.
    #[param(schema_with = fields::me, required = false)]
    holder: Option<String>,
    /// Only locks of this agent. With `holder=me`, the header `X-Coord-Agent` has the same effect.
    #[param(value_type = AgentId, required = false)]
    agent_id: Option<String>,
}

impl LocksQuery {
    /// Parses the query.
    ///
    /// # Errors
    /// When a field is missing or invalid, or the caller has no right to the repository.
    pub fn parse(&self, caller: Caller, agent: Option<&str>) -> Result<LocksRequest, ApiError> {
        let (repo, caller) = parse_repository(&self.repo_url, caller)?;
        let branch = parse_optional("branch", self.branch.as_deref(), Branch::parse)?;
        if self.holder.as_ref().is_some_and(|holder| holder != "me") {
            let problem = "must be me; without it, the locks of all holders are listed";
            return Err(ApiError::invalid_field("holder", problem));
        }
        let is_own = self.holder.is_some();
        let caller_agent = agent_of(self.agent_id.as_deref(), agent)?;
        Ok(LocksRequest {
            repo,
            branch,
            is_own,
            agent_id: caller_agent.clone().filter(|_| is_own || self.agent_id.is_some()),
            caller,
            caller_agent,
        })
    }
}

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_locks)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(get_locks), components(schemas(LocksResponse)))]
pub(super) struct Document;

/// List the locks of a repository, without its graph.
///
/// `GET /api/locks?repo_url=URL[&branch=NAME][&holder=me][&agent_id=AGENT]`. A branch that does not exist has no locks.
#[utoipa::path(
    get,
    path = "/api/locks",
    tag = "people",
    params(LocksQuery, AgentHeaders),
    responses(LocksResponseSet),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_locks(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<LocksQuery>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<LocksResponse>, HandlerError> {
    let needs_login = query.as_ref().is_ok_and(|query| query.holder.is_some());
    let caller = if needs_login {
        app.authenticator.authenticate(&headers).await?
    } else {
        app.authenticator.authenticate_reader(&headers).await?
    };
    let Query(query) = query.map_err(|_| {
        ApiError::malformed(
            "the query is not valid; send repo_url, and optionally branch, holder and agent_id, each once",
        )
    })?;
    let request = query.parse(caller, agent_header(&headers))?;
    Ok(Json(list_locks(&app, request).await?))
}

/// Its responses in the OpenAPI document.
enum LocksResponseSet {}

impl IntoResponses for LocksResponseSet {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(&READ, Reader::Person, "GET, HEAD", None);
        let locks = content("Locks", examples::locks());
        answers.insert(200, response("The locks and their holders", locks));
        finish(answers)
    }
}

//! `/api/teams`: the teams of a repository.
//!
//! - [`team`]: one team; [`tasks`], [`task`]: tasks; [`messages`]: messages
//! - [`acts`]: requests that only have a body
//! - `query`, `answers`: what all of these share

pub(super) mod acts;
mod answers;
pub(super) mod messages;
mod query;
pub(super) mod task;
pub(super) mod tasks;
pub(super) mod team;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use coord_protocol::schema;
use coord_protocol::teams::{NewTeamRequest, TeamChangeResponse, TeamsResponse};
use serde::de::DeserializeOwned;
use utoipa::OpenApi;

use crate::operations::teams::{CallerContext, list_teams, new_team};
use answers::{answers, respond};
use coord_http::body::read_json;
use coord_http::headers::agent_header;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;
use coord_server::error::ApiError;
use query::ParsedQuery;
pub use query::{TaskQuery, TeamsQuery};

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_teams).post(post_teams)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    paths(get_teams, post_teams),
    components(schemas(
        TeamsResponse,
        TeamChangeResponse,
        NewTeamRequest,
        schema::TeamName,
        schema::Handle,
        schema::HandleOrNone,
        schema::TaskId,
        schema::TaskTitle,
        schema::LongText,
        schema::RequestKey
    ))
)]
pub(super) struct Document;

answers! {
    /// The responses to a request for the teams.
    Listed = "Teams", Read, "GET, HEAD, POST", [];
    /// The responses to a new team.
    Created = "TeamChanged", Change, "GET, HEAD, POST", [TeamExists, TooMany];
}

async fn authenticate<'a>(app: &App, headers: &'a HeaderMap) -> Result<CallerContext<'a>, ApiError> {
    Ok(CallerContext {
        caller: app.authenticator.authenticate(headers).await?,
        agent: agent_header(headers),
    })
}

/// Authenticates the caller, then reads the body of the request.
async fn read_request<'a, R: DeserializeOwned>(
    app: &App,
    headers: &'a HeaderMap,
    request: Request<Body>,
) -> Result<(CallerContext<'a>, R), ApiError> {
    let context = authenticate(app, headers).await?;
    Ok((context, read_json(request).await?))
}

/// List the teams of a repository.
///
/// `GET /api/teams?repo_url=URL`.
#[utoipa::path(
    get,
    path = "/api/teams",
    tag = "agents",
    params(TeamsQuery, AgentHeaders),
    responses(Listed),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_teams(State(app): State<Arc<App>>, headers: HeaderMap, query: ParsedQuery<TeamsQuery>) -> Response {
    let response = async {
        let context = authenticate(&app, &headers).await?;
        list_teams(&app, &query.0?.repo_url, context).await
    };
    respond(response.await)
}

/// Create a team.
///
/// The caller leads it, and is its first member. 100 teams at most.
#[utoipa::path(
    post,
    path = "/api/teams",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = NewTeamRequest),
    responses(Created),
    security(("bearer" = []), ("api_key" = []))
)]
async fn post_teams(State(app): State<Arc<App>>, headers: HeaderMap, request: Request<Body>) -> Response {
    let response = async {
        let (context, body): (_, NewTeamRequest) = read_request(&app, &headers, request).await?;
        new_team(&app, &body, context).await
    };
    respond(response.await)
}

//! `/api/teams`: the teams of a repository. Its function serves tasks and messages, too.
//!
//! - [`team`]: one of them; [`tasks`], [`task`]: tasks; [`messages`]: messages
//! - [`acts`]: requests with a body and nothing else
//! - `query`, `answers`: common to all of these

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

use crate::operations::teams::{CallerContext as By, list_teams, new_team};
use answers::{answers, respond};
use coord_auth::Caller;
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
    /// Those to a request for the teams.
    Listed = "Teams", Read, "GET, HEAD, POST", [];
    /// Those to a new team.
    Created = "TeamChanged", Change, "GET, HEAD, POST", [TeamExists, TooMany];
}

async fn by<'a>(app: &App, headers: &'a HeaderMap) -> Result<By<'a>, ApiError> {
    let caller: Caller = app.authenticator.authenticate(headers).await?;
    Ok(By {
        caller,
        agent: agent_header(headers),
    })
}

/// The caller, and the body of the request.
async fn read<'a, R: DeserializeOwned>(
    app: &App,
    headers: &'a HeaderMap,
    request: Request<Body>,
) -> Result<(By<'a>, R), ApiError> {
    let by = by(app, headers).await?;
    Ok((by, read_json(request).await?))
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
    let listed = async {
        let by = by(&app, &headers).await?;
        list_teams(&app, &query.0?.repo_url, by).await
    };
    respond(listed.await)
}

/// Make a team.
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
    let created = async {
        let (by, sent): (_, NewTeamRequest) = read(&app, &headers, request).await?;
        new_team(&app, &sent, by).await
    };
    respond(created.await)
}

//! `/api/teams/{team}`: one team.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use coord_protocol::schema::TeamName;
use coord_protocol::teams::{EditTeamRequest, TeamResponse};
use utoipa::OpenApi;

use super::answers::{answers, respond, respond_if_changed};
use super::query::{ParsedQuery, RemovalQuery, TeamsQuery};
use super::{authenticate, read_request};
use crate::operations::teams::{delete_team, edit_team, show_team};
use coord_http::openapi::fields::{AgentHeaders, ConditionalHeaders};
use coord_server::app::App;

pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_team).patch(patch_team).delete(remove_team)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    paths(get_team, patch_team, remove_team),
    components(schemas(TeamResponse, EditTeamRequest))
)]
pub(crate) struct Document;

answers! {
    /// The responses to a request for a team.
    Found = "TeamFound", ConditionalRead, "GET, HEAD, PATCH, DELETE", [UnknownTeam];
    /// The responses to a change.
    Edited = "TeamChanged", Change, "GET, HEAD, PATCH, DELETE",
        [UnknownTeam, NotAMember, NotLeader, Superseded, TeamClosed, UnknownRecipient];
    /// The responses to a removal.
    Removed = "TeamChanged", Remove, "GET, HEAD, PATCH, DELETE",
        [UnknownTeam, NotAMember, NotLeader, Superseded, MembersLive];
}

/// Show a team with its members.
///
/// `GET /api/teams/{team}?repo_url=URL`.
#[utoipa::path(
    get,
    path = "/api/teams/{team}",
    tag = "agents",
    params(("team" = TeamName, Path, description = "The team"), TeamsQuery, AgentHeaders, ConditionalHeaders),
    responses(Found),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_team(
    State(app): State<Arc<App>>,
    Path(team): Path<String>,
    headers: HeaderMap,
    query: ParsedQuery<TeamsQuery>,
) -> Response {
    let response = async {
        let context = authenticate(&app, &headers).await?;
        show_team(&app, &team, &query.0?.repo_url, context).await
    };
    respond_if_changed(&headers, response.await)
}

/// Hand a team over to another member.
///
/// Only its leader may do this.
#[utoipa::path(
    patch,
    path = "/api/teams/{team}",
    tag = "agents",
    params(("team" = TeamName, Path, description = "The team"), AgentHeaders),
    request_body(content = EditTeamRequest),
    responses(Edited),
    security(("bearer" = []), ("api_key" = []))
)]
async fn patch_team(
    State(app): State<Arc<App>>,
    Path(team): Path<String>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response {
    let response = async {
        let (context, body): (_, EditTeamRequest) = read_request(&app, &headers, request).await?;
        edit_team(&app, &team, &body, context).await
    };
    respond(response.await)
}

/// Remove a team with its tasks and messages.
///
/// Only its leader may do this, once it is closed or has no other live member. `DELETE /api/teams/{team}?repo_url=URL[&agent_id=AGENT]`.
#[utoipa::path(
    delete,
    path = "/api/teams/{team}",
    tag = "agents",
    params(("team" = TeamName, Path, description = "The team"), RemovalQuery, AgentHeaders),
    responses(Removed),
    security(("bearer" = []), ("api_key" = []))
)]
async fn remove_team(
    State(app): State<Arc<App>>,
    Path(team): Path<String>,
    headers: HeaderMap,
    query: ParsedQuery<RemovalQuery>,
) -> Response {
    let response = async {
        let context = authenticate(&app, &headers).await?;
        let query = query.0?;
        delete_team(&app, &team, &query.repo_url, query.agent_id.as_deref(), context).await
    };
    respond(response.await)
}

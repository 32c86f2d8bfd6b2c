//! `/api/tasks`: the tasks of a team.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use coord_protocol::tasks::{NewTasksRequest, NewTasksResponse, TasksResponse};
use utoipa::OpenApi;

use super::answers::{answers, respond, respond_if_changed};
use super::query::{ParsedQuery, TasksQuery};
use super::{authenticate, read_request};
use crate::operations::teams::{list_tasks, new_tasks};
use coord_http::openapi::fields::{AgentHeaders, ConditionalHeaders};
use coord_server::app::App;

pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_tasks).post(post_tasks)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    paths(get_tasks, post_tasks),
    components(schemas(TasksResponse, NewTasksRequest, NewTasksResponse))
)]
pub(crate) struct Document;

answers! {
    /// The responses to a request for tasks.
    Listed = "Tasks", ConditionalRead, "GET, HEAD, POST", [UnknownTeam];
    /// The responses to new tasks.
    Added = "TasksAdded", Change, "GET, HEAD, POST",
        [UnknownTeam, NotAMember, Superseded, TeamClosed, TooMany, KeyReused, TaskExists, UnknownDependency, CircularDependency];
}

/// List the tasks of a team.
///
/// In the order in which they were added, without notes and results, and with descriptions only on request. Claims
/// expire by the clock, and change the `ETag`.
#[utoipa::path(
    get,
    path = "/api/tasks",
    tag = "agents",
    params(TasksQuery, AgentHeaders, ConditionalHeaders),
    responses(Listed),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_tasks(State(app): State<Arc<App>>, headers: HeaderMap, query: ParsedQuery<TasksQuery>) -> Response {
    let response = async {
        let context = authenticate(&app, &headers).await?;
        let query = query.0?;
        list_tasks(&app, query.parse(&query.caller())?, context).await
    };
    respond_if_changed(&headers, response.await)
}

/// Add tasks: all, or none.
///
/// They may name each other by a `ref`. 20,000 open tasks of a team at most.
#[utoipa::path(
    post,
    path = "/api/tasks",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = NewTasksRequest),
    responses(Added),
    security(("bearer" = []), ("api_key" = []))
)]
async fn post_tasks(State(app): State<Arc<App>>, headers: HeaderMap, request: Request<Body>) -> Response {
    let response = async {
        let (context, body): (_, NewTasksRequest) = read_request(&app, &headers, request).await?;
        new_tasks(&app, &body, context).await
    };
    respond(response.await)
}

//! `/api/tasks/{id}`: one task.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use coord_protocol::schema::TaskId;
use coord_protocol::tasks::{EditTaskRequest, TaskResponse};
use utoipa::OpenApi;

use super::answers::{answers, respond};
use super::query::{ParsedQuery, TaskQuery, TaskRemovalQuery};
use super::{authenticate, read_request};
use crate::operations::teams::{delete_task, edit_task, show_task};
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;

pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_task).patch(patch_task).delete(remove_task)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    paths(get_task, patch_task, remove_task),
    components(schemas(TaskResponse, EditTaskRequest))
)]
pub(crate) struct Document;

answers! {
    /// The responses to a request for a task.
    Found = "TaskAnswer", Read, "GET, HEAD, PATCH, DELETE", [UnknownTeam, UnknownTask];
    /// The responses to a change.
    Edited = "TaskAnswer", Change, "GET, HEAD, PATCH, DELETE",
        [
            UnknownTeam, UnknownTask, NotAMember, NotCreator, Superseded, TeamClosed, TooMany, UnknownDependency,
            CircularDependency, InvalidTransition, TaskUnavailable, NotesFull, UnknownRecipient, InboxFull, TaskTaken, FilesClaimed,
        ];
    /// The responses to a removal.
    Removed = "TaskAnswer", Remove, "GET, HEAD, PATCH, DELETE",
        [UnknownTeam, UnknownTask, NotAMember, NotLeader, NotCreator, Superseded, TeamClosed, DependedOn, TaskTaken];
}

/// Show a task in full.
///
/// `GET /api/tasks/{id}?repo_url=URL[&team=TEAM]`.
#[utoipa::path(
    get,
    path = "/api/tasks/{id}",
    tag = "agents",
    params(("id" = TaskId, Path, description = "The task"), TaskQuery, AgentHeaders),
    responses(Found),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_task(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    query: ParsedQuery<TaskQuery>,
) -> Response {
    let response = async {
        let context = authenticate(&app, &headers).await?;
        show_task(&app, &id, &query.0?.caller(), context).await
    };
    respond(response.await)
}

/// Edit a task: all fields sent, or none.
///
/// Omitted fields keep their values. `assignee` must be sent alone: it reserves the task for that member for ten minutes and sends them a message.
#[utoipa::path(
    patch,
    path = "/api/tasks/{id}",
    tag = "agents",
    params(("id" = TaskId, Path, description = "The task"), AgentHeaders),
    request_body(content = EditTaskRequest),
    responses(Edited),
    security(("bearer" = []), ("api_key" = []))
)]
async fn patch_task(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response {
    let response = async {
        let (context, body): (_, EditTaskRequest) = read_request(&app, &headers, request).await?;
        edit_task(&app, &id, &body, context).await
    };
    respond(response.await)
}

/// Remove a task.
///
/// With `unlink=true` even if others depend on it. `DELETE /api/tasks/{id}?repo_url=URL[&team=TEAM][&unlink=true][&agent_id=AGENT]`.
#[utoipa::path(
    delete,
    path = "/api/tasks/{id}",
    tag = "agents",
    params(("id" = TaskId, Path, description = "The task"), TaskRemovalQuery, AgentHeaders),
    responses(Removed),
    security(("bearer" = []), ("api_key" = []))
)]
async fn remove_task(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    query: ParsedQuery<TaskRemovalQuery>,
) -> Response {
    let response = async {
        let context = authenticate(&app, &headers).await?;
        let query = query.0?;
        delete_task(&app, &id, &query.caller(), query.unlink == Some(true), context).await
    };
    respond(response.await)
}

//! `GET /api/ledger/checkpoint`: a statement about the ledger, to be kept outside the store.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use utoipa::OpenApi;

use super::answers::{CheckpointResponses, respond};
use super::query::{CheckpointQuery, unreadable};
use crate::operations::ledger::checkpoint;
use coord_http::headers::agent_header;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;

pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_checkpoint)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(get_checkpoint))]
pub(crate) struct Document;

/// Get a checkpoint of the ledger.
///
/// `GET /api/ledger/checkpoint?repo_url=URL`. The text says how many lines there are, and the hash of the last. It is a signed note
/// where the operator has set a key.
#[utoipa::path(
    get,
    path = "/api/ledger/checkpoint",
    tag = "agents",
    params(CheckpointQuery, AgentHeaders),
    responses(CheckpointResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_checkpoint(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<CheckpointQuery>, QueryRejection>,
) -> Response {
    let response = async {
        let caller = app.authenticator.authenticate(&headers).await?;
        let Query(query) = query.map_err(unreadable)?;
        checkpoint(&app, &query.repo_url, caller, agent_header(&headers)).await
    };
    respond(response.await)
}

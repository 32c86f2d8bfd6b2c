//! `GET /api/ledger/map`: which intent owns which file, and the recorded content.

use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use coord_protocol::MapResponse;
use coord_protocol::plain_text::visible_text;
use utoipa::OpenApi;

use super::answers::{MapResponses, respond};
use super::query::{MapQuery, unreadable};
use crate::operations::ledger::{map, markdown};
use coord_http::headers::agent_header;
use coord_http::json::Json;
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;
use coord_server::error::ApiError;

pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_map)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(get_map), components(schemas(MapResponse)))]
pub(crate) struct Document;

/// Get the map of files and their intents.
///
/// `GET /api/ledger/map?repo_url=URL[&branch=NAME][&format=markdown]`.
#[utoipa::path(
    get,
    path = "/api/ledger/map",
    tag = "agents",
    params(MapQuery, AgentHeaders),
    responses(MapResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_map(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    query: Result<Query<MapQuery>, QueryRejection>,
) -> Response {
    let response = async {
        let caller = app.authenticator.authenticate(&headers).await?;
        let Query(query) = query.map_err(unreadable)?;
        let (request, is_markdown) = query.parse(caller, agent_header(&headers))?;
        let response = map(&app, request).await?;
        Ok::<Response, ApiError>(if is_markdown {
            let content_type = [(CONTENT_TYPE, "text/markdown; charset=utf-8")];
            (content_type, visible_text(&markdown(&response)).into_owned()).into_response()
        } else {
            Json(response).into_response()
        })
    };
    respond(response.await)
}

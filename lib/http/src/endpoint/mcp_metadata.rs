//! `GET /.well-known/oauth-protected-resource/api/mcp`: where callers of MCP get a credential (RFC 9728).

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{MethodRouter, get};
use serde::Serialize;
use utoipa::OpenApi;

use super::operation::MCP;
use crate::error::HandlerError;
use crate::own_origin::own_origin;
use coord_server::app::App;

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_metadata)
}

/// It has no part of the OpenAPI document, like [`mcp`](super::mcp).
#[derive(OpenApi)]
pub(super) struct Document;

/// The metadata of a protected resource.
#[derive(Serialize)]
struct Metadata {
    resource: String,
    resource_name: &'static str,
    /// Omitted if no credential is needed: on one machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authorization_servers: Vec<String>,
    bearer_methods_supported: [&'static str; 1],
}

/// It needs no credential, because it tells clients where to get one.
async fn get_metadata(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Json<Metadata>, HandlerError> {
    let origin = own_origin(&app.edge, &headers)?;
    Ok(Json(Metadata {
        resource: format!("{origin}{}", MCP.path()),
        resource_name: "Coord",
        authorization_servers: app.authenticator.authorization_servers(),
        bearer_methods_supported: ["header"],
    }))
}

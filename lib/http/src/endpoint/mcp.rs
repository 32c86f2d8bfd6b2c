//! `POST /api/mcp`: the operations of agents by MCP (Model Context Protocol). Caller, origin and size are checked here,
//! as in every other endpoint; the rest is `lib/mcp/src/`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::header::{ACCEPT, CONTENT_TYPE, HOST, WWW_AUTHENTICATE};
use axum::http::{HeaderName, HeaderValue, Request, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, post};
use axum::{Extension, Json};
use bytes::Bytes;
use futures::future::BoxFuture;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use utoipa::OpenApi;

use super::operation::{MCP, MCP_METADATA};
use crate::body::{is_json, read_bytes};
use crate::error::Respond;
use crate::headers::agent_header;
use crate::own_origin::own_origin;
use coord_auth::{Caller, presents_credential};
use coord_server::app::App;
use coord_server::error::ApiError;

/// Maximum size of a body in bytes.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Codes of JSON-RPC.
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

/// The caller of one authenticated request, and what the request works with.
pub struct Session {
    /// The `App` of the operations.
    pub app: Arc<App>,
    pub caller: Caller,
    /// The header `X-Coord-Agent`.
    pub agent: Option<String>,
    /// The groups of tools that the query selects, such as `locks,tasks`.
    pub groups: Option<String>,
}

/// Responds to requests of the protocol: `coord_tools::protocol`, as an extension of the router. The table of routes
/// does not name it, so that functions without MCP are built without it.
#[derive(Clone, Copy, Debug)]
pub struct Protocol(pub fn(Session, Request<Bytes>) -> BoxFuture<'static, Result<Response, ApiError>>);

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    post(serve_mcp)
}

/// It has no part of the OpenAPI document: JSON-RPC has one route for all methods, and MCP describes itself
/// (`tools/list`).
#[derive(OpenApi)]
pub(super) struct Document;

/// A request or a notification of JSON-RPC.
async fn serve_mcp(
    State(app): State<Arc<App>>,
    protocol: Option<Extension<Protocol>>,
    request: Request<Body>,
) -> Response {
    let Some(Extension(protocol)) = protocol else {
        return ApiError::UnknownRoute { instead: None }.respond_to_agent();
    };
    let origin = match own_origin(&app.edge, request.headers()) {
        Ok(origin) => origin,
        Err(error) => return error.respond_to_agent(),
    };
    let has_credential = presents_credential(request.headers());
    match respond(app, protocol, request).await {
        Ok(response) => response,
        Err(error) => {
            let mut response = error.respond_to_agent();
            if let ApiError::Unauthorized(_) = error
                && let Ok(challenge) = HeaderValue::from_str(&challenge(&origin, has_credential))
            {
                response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            }
            response
        }
    }
}

async fn respond(app: Arc<App>, protocol: Protocol, request: Request<Body>) -> Result<Response, ApiError> {
    let headers = request.headers().clone();
    let caller = app.authenticator.authenticate(&headers).await?;
    let groups = selected_groups(request.uri())?;
    if !is_json(&headers) {
        return Err(ApiError::UnsupportedMediaType);
    }
    let body = read_bytes(request, MAX_BYTES).await?;
    let mut sdk_request = Request::post(MCP.path());
    for (name, value) in headers.iter().filter(|(name, _)| is_for_sdk(name)) {
        sdk_request = sdk_request.header(name, value);
    }
    let sdk_request = sdk_request.body(Bytes::clone(&body)).map_err(|_| ApiError::Internal)?;
    let session = Session {
        app,
        caller,
        agent: agent_header(&headers).map(str::to_owned),
        groups,
    };
    let response = (protocol.0)(session, sdk_request).await?;
    convert_to_json_rpc(response, &body).await
}

/// The groups of tools to offer.
#[derive(Debug, Deserialize)]
struct McpQuery {
    tools: Option<String>,
}

/// The groups of tools that the query of `uri` names, such as `?tools=locks,tasks`.
fn selected_groups(uri: &Uri) -> Result<Option<String>, ApiError> {
    let query = Query::<McpQuery>::try_from_uri(uri);
    let Query(query) = query.map_err(|_| ApiError::invalid_field("tools", "must be sent once"))?;
    Ok(query.tools)
}

/// Whether the SDK gets the header `name`. None of these headers can hold a secret.
fn is_for_sdk(name: &HeaderName) -> bool {
    *name == HOST || *name == ACCEPT || *name == CONTENT_TYPE || name.as_str().starts_with("mcp-")
}

/// Converts an error in plain text, with which the SDK responds if it could not parse the request, to JSON-RPC.
async fn convert_to_json_rpc(response: Response, body: &[u8]) -> Result<Response, ApiError> {
    let status = response.status();
    let content_type = response.headers().get(CONTENT_TYPE);
    if status.is_success() || content_type.is_some_and(|value| value == "application/json") {
        return Ok(response);
    }
    // The media type has been checked, so here the status means that the SDK could not parse the body.
    let (status, code, message) = if status != StatusCode::UNSUPPORTED_MEDIA_TYPE {
        let text = response.into_body().collect().await.map_err(|_| ApiError::Internal)?;
        let text = String::from_utf8_lossy(&text.to_bytes()).into_owned();
        (status, INVALID_REQUEST, text)
    } else if serde_json::from_slice::<IgnoredAny>(body).is_err() {
        (StatusCode::BAD_REQUEST, PARSE_ERROR, "the body is not JSON".to_owned())
    } else {
        let message = "the body is not a request or notification of JSON-RPC 2.0; batches are not supported";
        (StatusCode::BAD_REQUEST, INVALID_REQUEST, message.to_owned())
    };
    let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    Ok((status, Json(error)).into_response())
}

/// The challenge of a 401 (RFC 6750, RFC 9728).
fn challenge(origin: &str, has_credential: bool) -> String {
    let error = if has_credential {
        "error=\"invalid_token\", "
    } else {
        ""
    };
    let path = MCP_METADATA.path();
    format!("Bearer realm=\"coord\", {error}resource_metadata=\"{origin}{path}\"")
}

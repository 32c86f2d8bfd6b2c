//! Serves one request with the official SDK. The SDK answers in a separate task. That task hands calls and reads to the
//! task of the request. So the request's metrics, time limit, caller's address and later work apply to them, as with
//! every other endpoint. If the caller disconnects, the request ends.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{Request, Response};
use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Collected, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::mpsc;

use super::order::in_order;
use super::resources;
use super::server::{SdkRequest, Server, ToolSelection};
use super::tool_host::ToolHost;
use super::tool_set::{ToolGroup, ToolSets};
use coord_http::Session;
use coord_server::error::ApiError;

/// The response to `request`, with the tools of the core and of `sets` that the session selects. The caller has already
/// checked the Host, Origin, credential and size of the request.
///
/// # Errors
/// When there are no such groups, or the repository's source refuses the caller's credential. Every other error is in
/// the response.
pub async fn serve(sets: ToolSets, session: Session, request: Request<Bytes>) -> Result<Response<Body>, ApiError> {
    let groups = match &session.groups {
        Some(names) => ToolGroup::parse(sets, names),
        None => Ok(ToolGroup::defaults(sets)),
    };
    let groups = groups.map_err(|problem| ApiError::invalid_field("tools", problem))?;
    let (sender, mut requests) = mpsc::channel(1);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // The endpoint has checked both.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let server = move || {
        let selection = ToolSelection::Chosen(groups.clone());
        Ok(Server::new(
            sets,
            ToolHost::Deployment,
            selection,
            Box::new(|_| None),
            sender.clone(),
        ))
    };
    let service = StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config);
    let response = service.handle(request.map(Full::new));
    tokio::pin!(response);
    loop {
        tokio::select! {
            response = &mut response => return Ok(order_members(response).await),
            Some(request) = requests.recv() => answer(sets, &session, request).await?,
        }
    }
}

/// Puts the members of the response's results in order.
async fn order_members(response: Response<BoxBody<Bytes, Infallible>>) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    let Ok(message) = body.collect().await.map(Collected::to_bytes);
    // The new text may have a different length.
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, Body::from(in_order(&message)))
}

/// Answers a request of the SDK. Drops the answer if the client has canceled the call.
async fn answer(sets: ToolSets, session: &Session, request: SdkRequest) -> Result<(), ApiError> {
    match request {
        SdkRequest::Call {
            tool,
            arguments,
            reply,
            client: _,
        } => {
            let _ = reply.send((tool.call)(session, &arguments).await?);
        }
        SdkRequest::Read { uri, reply, client: _ } => {
            let _ = reply.send(resources::read(sets, session, &uri).await?);
        }
        // The SDK sends neither: the session selects the tools, and no client can subscribe.
        SdkRequest::Groups { .. } | SdkRequest::Change { .. } => {}
        // A deployment reads no folders of its callers.
        SdkRequest::Roots { reply, .. } => {
            let _ = reply.send(());
        }
    }
    Ok(())
}

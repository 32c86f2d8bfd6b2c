//! One request by the official SDK. The SDK answers from a separate task. Questions to store and source are handed to the task of
//! the request, so that its figures, time limit, caller's address and later work belong to it as with every other endpoint. A
//! caller that goes away ends it.

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

use super::offer::Offer;
use super::order::in_order;
use super::resources;
use super::server::{SdkRequest, Server, ToolSelection};
use super::tool_set::ToolSets;
use coord_http::Session;
use coord_server::error::ApiError;

/// The response to `request`, with the tools of the heart and of `sets`. Its Host, Origin, credential and size have been looked at.
///
/// # Errors
/// When the place of the repository does not take the caller's credential. Every other error is in the response.
pub async fn serve(sets: ToolSets, session: Session, request: Request<Bytes>) -> Result<Response<Body>, ApiError> {
    let (requests, mut received) = mpsc::channel(1);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // Both were looked at before the credential.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let groups = session.groups.clone();
    let server = move || {
        let listed = ToolSelection::Chosen(groups.clone());
        Ok(Server::new(
            sets,
            Offer::Deployment,
            listed,
            Box::new(|_| None),
            requests.clone(),
        ))
    };
    let service = StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config);
    let responding = service.handle(request.map(Full::new));
    tokio::pin!(responding);
    loop {
        tokio::select! {
            response = &mut responding => return Ok(ordered(response).await),
            Some(received) = received.recv() => answer(sets, &session, received).await?,
        }
    }
}

/// The response, with the members of results in their order.
async fn ordered(response: Response<BoxBody<Bytes, Infallible>>) -> Response<Body> {
    let (mut head, body) = response.into_parts();
    let Ok(message) = body.collect().await.map(Collected::to_bytes);
    // The length is that of the new text.
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, Body::from(in_order(&message)))
}

/// Answers a request of the SDK. If the call was cancelled, the answer is dropped.
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
        // Neither is asked for: the tools are chosen, and no client can listen.
        SdkRequest::Groups { .. } | SdkRequest::Change { .. } => {}
        // A deployment reads no folder of its callers.
        SdkRequest::Roots { reply, .. } => {
            let _ = reply.send(());
        }
    }
    Ok(())
}

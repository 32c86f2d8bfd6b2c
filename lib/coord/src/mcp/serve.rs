//! One request by the official SDK. The SDK answers from a task of its own; what has to be asked of store and source is handed back
//! to the task of the request, so that its figures, its time limit, its caller's address and work after the answer belong to it as
//! with every other endpoint. A caller that goes away ends it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use bytes::Bytes;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::mpsc;

use super::offer::Offer;
use super::server::{SdkRequest, Server};
use super::session::Session;
use super::{operations, resources};
use crate::error::ApiError;

/// The response to `request`, whose Host, Origin, credential and size have been looked at.
///
/// # Errors
/// When the place of the repository does not take the caller's credential. Every other error is in the response.
pub(super) async fn serve(session: Session, request: Request<Bytes>) -> Result<Response<Body>, ApiError> {
    let (requests, mut received) = mpsc::channel(1);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // Both were looked at before the credential.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let groups = session.groups.clone();
    let server = move || Ok(Server::new(Offer::Deployment, &groups, requests.clone()));
    let service = StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config);
    let responding = service.handle(request.map(Full::new));
    tokio::pin!(responding);
    loop {
        tokio::select! {
            response = &mut responding => return Ok(response.map(Body::new)),
            Some(received) = received.recv() => answer(&session, received).await?,
        }
    }
}

/// Answers a request of the SDK. Where nobody waits for the answer any more, it is dropped.
async fn answer(session: &Session, request: SdkRequest) -> Result<(), ApiError> {
    match request {
        SdkRequest::Call {
            tool,
            arguments,
            reply,
            client: _,
        } => {
            let _ = reply.send(operations::call(session, tool, &arguments).await?);
        }
        SdkRequest::Read { uri, reply, client: _ } => {
            let _ = reply.send(resources::read(session, &uri).await?);
        }
        // A deployment reads no folder of its callers.
        SdkRequest::Roots { reply, .. } => {
            let _ = reply.send(());
        }
    }
    Ok(())
}

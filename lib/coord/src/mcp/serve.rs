//! One request by the official SDK. The SDK answers from a task of its own; what has to be asked of store and source is handed back
//! to the task of the request, so that its figures, its time limit, its caller's address and work after the answer belong to it as
//! with every other endpoint. A caller that goes away ends it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};
use bytes::Bytes;
use http_body_util::Full;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ReadResourceResult};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{mpsc, oneshot};

use super::server::Server;
use super::tools::Tool;
use super::{resources, tools};
use crate::app::App;
use crate::auth::Caller;
use crate::error::ApiError;

/// The caller of one request.
pub struct Session {
    /// What operations work with.
    pub(crate) app: Arc<App>,
    /// The caller.
    pub(crate) caller: Caller,
    /// The header `X-Coord-Agent`.
    pub(crate) agent: Option<String>,
}

/// What the SDK asks of the task of the request.
pub(super) enum Question {
    /// A tool is called.
    Call {
        tool: Tool,
        /// A JSON object.
        arguments: String,
        reply: oneshot::Sender<CallToolResult>,
    },
    /// A resource is read.
    Read {
        uri: String,
        reply: oneshot::Sender<Result<ReadResourceResult, ErrorData>>,
    },
}

/// The response to `request`, whose Host, Origin, credential and size have been looked at.
///
/// # Errors
/// When the place of the repository does not take the caller's credential. Every other error is in the response.
pub(super) async fn serve(session: Session, request: Request<Bytes>) -> Result<Response<Body>, ApiError> {
    let (questions, mut asked) = mpsc::channel(1);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // Both were looked at before the credential.
        .disable_allowed_hosts()
        .disable_allowed_origins();
    let server = move || Ok(Server::new(questions.clone()));
    let service = StreamableHttpService::new(server, Arc::new(NeverSessionManager::default()), config);
    let responding = service.handle(request.map(Full::new));
    tokio::pin!(responding);
    loop {
        tokio::select! {
            response = &mut responding => return Ok(response.map(Body::new)),
            Some(question) = asked.recv() => session.answer(question).await?,
        }
    }
}

impl Session {
    /// Where nobody waits for the answer any more, it is dropped.
    async fn answer(&self, question: Question) -> Result<(), ApiError> {
        match question {
            Question::Call { tool, arguments, reply } => {
                let _ = reply.send(tools::call(self, tool, &arguments).await?);
            }
            Question::Read { uri, reply } => {
                let _ = reply.send(resources::read(self, &uri).await?);
            }
        }
        Ok(())
    }
}

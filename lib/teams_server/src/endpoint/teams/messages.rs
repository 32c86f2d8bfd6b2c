//! `/api/messages`: the messages of a team.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use coord_protocol::messages::{HistoryResponse, SendMessageRequest, SendMessageResponse};
use utoipa::OpenApi;

use super::answers::{answers, respond};
use super::query::{MessagesQuery, ParsedQuery};
use super::{authenticate, read_request};
use crate::operations::teams::{message_history, send_message};
use coord_http::openapi::fields::AgentHeaders;
use coord_server::app::App;

pub(crate) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_messages).post(post_messages)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(
    paths(get_messages, post_messages),
    components(schemas(HistoryResponse, SendMessageRequest, SendMessageResponse))
)]
pub(crate) struct Document;

answers! {
    /// The responses to a request for messages.
    Listed = "MessageHistory", Read, "GET, HEAD, POST", [UnknownTeam];
    /// The responses to a message.
    Accepted = "MessageAccepted", Change, "GET, HEAD, POST",
        [UnknownTeam, NotAMember, Superseded, TeamClosed, UnknownRecipient, InboxFull, KeyReused, TooMany];
}

/// List the messages of a team, the newest first.
///
/// Each with the recipients that have not read it. Listing marks nothing as read.
#[utoipa::path(
    get,
    path = "/api/messages",
    tag = "agents",
    params(MessagesQuery, AgentHeaders),
    responses(Listed),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_messages(State(app): State<Arc<App>>, headers: HeaderMap, query: ParsedQuery<MessagesQuery>) -> Response {
    let response = async {
        let context = authenticate(&app, &headers).await?;
        let query = query.0?;
        message_history(&app, query.parse(&query.caller()), context).await
    };
    respond(response.await)
}

/// Send a message.
///
/// To members, or to all others. A member with 1,000 unread messages gets no more.
#[utoipa::path(
    post,
    path = "/api/messages",
    tag = "agents",
    params(AgentHeaders),
    request_body(content = SendMessageRequest),
    responses(Accepted),
    security(("bearer" = []), ("api_key" = []))
)]
async fn post_messages(State(app): State<Arc<App>>, headers: HeaderMap, request: Request<Body>) -> Response {
    let response = async {
        let (context, body): (_, SendMessageRequest) = read_request(&app, &headers, request).await?;
        send_message(&app, &body, context).await
    };
    respond(response.await)
}

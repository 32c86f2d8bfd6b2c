//! `GET /api/events`: the events of a repository as they happen, by WebSocket or as server-sent events.
//!
//! - `watcher`: the watcher of a stream, and the lifetime of the stream
//! - `sse`: server-sent events
//! - `websocket`: the same messages on a WebSocket

mod sse;
mod watcher;
mod websocket;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State, WebSocketUpgrade};
use axum::http::header::UPGRADE;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use axum::{Extension, RequestExt};
use coord_protocol::PublishedEvent;
use coord_protocol::stream::{StreamMessage, StreamRequest};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, RefOr, Response as Described, ResponseBuilder};
use utoipa::{IntoResponses, OpenApi};

use crate::connection::Connection;
use crate::error::HandlerError;
use crate::openapi::errors::{READ, Reader, errors, finish};
use crate::openapi::examples;
use crate::openapi::fields::{AgentHeaders, StreamHeaders};
use crate::own_origin::{own_origin, refuse_pages_of_other_sites};
use coord_auth::Authenticator;
use coord_server::app::App;
use coord_server::error::ApiError;
use watcher::{EventsQuery, Lifetime, Watcher, caller_headers};

pub(super) fn serve(_: &App) -> MethodRouter<Arc<App>> {
    get(get_events)
}

/// Its part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(get_events), components(schemas(PublishedEvent, StreamMessage, StreamRequest)))]
pub(super) struct Document;

/// The events of a repository as they happen.
///
/// `GET /api/events?repo_url=URL[&branch=NAME][&last_event_id=ID]`, as a WebSocket (`Upgrade: websocket`) or as server-sent
/// events. Each message is one JSON object: a `PublishedEvent` or a `StreamMessage`. The first is `stream_opened`. Clients
/// resume with the newest `id` or `cursor` that they have: they get everything that they missed, in order, or `resync` where
/// the log no longer reaches back. A WebSocket that cannot set headers sends its token in the first message
/// (`StreamRequest`), or among the values of `Sec-WebSocket-Protocol` as `coord.token.` and the token in base64url, beside
/// `coord.v1`. It gets errors as a message, and a close code: 1001 and 4000 (resume at once), 1013 (resume after a pause), 4400
/// (malformed), 4401 (no credential, or a bad one), 4403 (no right), 4404 (no such repository).
#[utoipa::path(
    get,
    path = "/api/events",
    tag = "people",
    params(EventsQuery, AgentHeaders, StreamHeaders),
    responses(EventsResponses),
    security(("bearer" = []), ("api_key" = []))
)]
async fn get_events(
    State(app): State<Arc<App>>,
    connection: Option<Extension<Connection>>,
    query: Result<Query<EventsQuery>, QueryRejection>,
    mut request: Request,
) -> Result<Response, HandlerError> {
    if matches!(*app.authenticator, Authenticator::Local { .. }) {
        // No credential protects the stream.
        own_origin(&app.edge, request.headers())?;
    } else {
        refuse_pages_of_other_sites(&app.edge, request.headers())?;
    }
    let Query(query) = query.map_err(|_| {
        ApiError::malformed("the query is not valid; send repo_url, and optionally branch and last_event_id, each once")
    })?;
    let upgrade = request.extract_parts::<WebSocketUpgrade>().await;
    let watcher = Watcher {
        app,
        headers: caller_headers(request.headers()),
        query,
    };
    let lifetime = Lifetime::of_request(connection.map(|Extension(connection)| connection));
    match upgrade {
        Ok(upgrade) => Ok(websocket::respond(upgrade, request.headers(), watcher, lifetime)),
        Err(rejection) if request.headers().contains_key(UPGRADE) => {
            Err(ApiError::malformed(format!("the WebSocket cannot be opened: {rejection}")).into())
        }
        Err(_) => {
            let stream = watcher.watch(lifetime.ends_by).await?;
            lifetime.keep_connection(&watcher);
            Ok(sse::respond(stream, lifetime))
        }
    }
}

/// Its responses in the OpenAPI document.
enum EventsResponses {}

impl IntoResponses for EventsResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let mut answers = errors(&READ, Reader::Person, "GET, HEAD", None);
        let text = ObjectBuilder::new().schema_type(Type::String);
        let content = ContentBuilder::new()
            .schema(Some(text))
            .example(Some(examples::event_stream().into()))
            .build();
        let stream = ResponseBuilder::new()
            .description(
                "Server-sent events: `event` is the `type`, `id` the id in the log, `data` the JSON of the message",
            )
            .content("text/event-stream", content);
        answers.insert(200, stream);
        answers.insert(101, ResponseBuilder::new().description("The WebSocket is open"));
        finish(answers)
    }
}

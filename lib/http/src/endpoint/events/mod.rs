//! `GET /api/events`: the events of a repository as they happen, by WebSocket or as server-sent events.
//!
//! - `sse`: server-sent events
//! - `websocket`: the same messages on a WebSocket

mod sse;
mod websocket;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State, WebSocketUpgrade};
use axum::http::header::UPGRADE;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use axum::{Extension, RequestExt};
use coord_protocol::PublishedEvent;
use coord_protocol::schema::{Branch as BranchName, EventId as EventName, RepoUrl};
use coord_protocol::stream::{StreamMessage, StreamRequest};
use futures::FutureExt;
use serde::Deserialize;
use tokio::sync::oneshot;
use tokio::time::Instant;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, RefOr, Response as Described, ResponseBuilder};
use utoipa::{IntoResponses, OpenApi};

use crate::connection::Connection;
use crate::error::HandlerError;
use crate::headers::agent_header;
use crate::openapi::errors::{Cause, Reader, errors, finish};
use crate::openapi::examples;
use crate::openapi::fields::{AgentHeaders, StreamHeaders};
use crate::own_origin::{own_origin, refuse_pages_of_other_sites};
use coord_auth::{Authenticator, CREDENTIAL_HEADERS, Caller, presents_credential};
use coord_domain::{Branch, EventId, RepoId};
use coord_runtime::after_response::defer;
use coord_server::admission::caller_address::{caller_address, coming_from};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{agent_of, in_field, required};
use coord_server::operations::{Stream, Verify, WatchRequest, admit_again, watch_events};

/// The header in which a client of server-sent events names its last event.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The query as sent.
#[derive(Clone, Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// The repository.
    #[param(value_type = RepoUrl, example = "https://github.com/acme/shop.git")]
    repo_url: Option<String>,
    /// Events of this branch alone; without it, of all branches.
    #[param(value_type = BranchName, required = false, example = "main")]
    branch: Option<String>,
    /// The newest `id` or `cursor` that the client has: missed events come first. The header `Last-Event-ID` says the same,
    /// and counts before it.
    #[param(value_type = EventName, required = false)]
    last_event_id: Option<String>,
}

/// Its methods.
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
    let Query(query) = query.map_err(|_| ApiError::MalformedBody {
        field: None,
        message: "the query cannot be read; send repo_url, and where you want them branch and last_event_id, once each"
            .to_owned(),
    })?;
    let upgrade = request.extract_parts::<WebSocketUpgrade>().await;
    let watcher = Watcher {
        app,
        headers: of_caller(request.headers()),
        query,
    };
    let lifetime = Lifetime::of_request(connection.map(|Extension(connection)| connection));
    match upgrade {
        Ok(upgrade) => Ok(websocket::answer(upgrade, request.headers(), watcher, lifetime)),
        Err(wrong) if request.headers().contains_key(UPGRADE) => Err(ApiError::MalformedBody {
            field: None,
            message: format!("the WebSocket cannot be opened: {wrong}"),
        }
        .into()),
        Err(_) => {
            let stream = watcher.watch(lifetime.ends_by).await?;
            lifetime.keep_connection(&watcher);
            Ok(sse::answer(stream, lifetime))
        }
    }
}

/// The headers that identify the caller, and its last event.
fn of_caller(headers: &HeaderMap) -> HeaderMap {
    let is_of_caller = |name: &HeaderName| {
        CREDENTIAL_HEADERS.contains(name)
            || *name == LAST_EVENT_ID
            || ["x-coord-user", "x-coord-agent"].contains(&name.as_str())
    };
    let kept = headers.iter().filter(|(name, _)| is_of_caller(name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The watcher, as long as the stream lives.
#[derive(Clone)]
struct Watcher {
    app: Arc<App>,
    headers: HeaderMap,
    query: EventsQuery,
}

impl Watcher {
    /// Starts the stream.
    async fn watch(&self, ends_by: Option<Instant>) -> Result<Stream, ApiError> {
        let request = self.request().await?;
        watch_events(&self.app, request, self.verify(), ends_by).await
    }

    /// Verifies the caller once more, from the credential.
    fn verify(&self) -> Verify {
        let (watcher, address) = (self.clone(), caller_address());
        Box::new(move || {
            let watcher = watcher.clone();
            let verifying = async move {
                let request = watcher.request().await?;
                admit_again(&watcher.app, &request).await
            };
            coming_from(address, verifying).boxed()
        })
    }

    async fn request(&self) -> Result<WatchRequest, ApiError> {
        let caller = self.app.authenticator.authenticate_reader(&self.headers).await?;
        self.query.parse(caller, &self.headers)
    }
}

impl EventsQuery {
    fn parse(&self, caller: Caller, headers: &HeaderMap) -> Result<WatchRequest, ApiError> {
        let repo = RepoId::parse(required("repo_url", &self.repo_url)?).map_err(in_field("repo_url"))?;
        let caller = caller.in_repository(&repo)?;
        let branch = self.branch.as_deref().map(Branch::parse).transpose();
        let header = headers.get(LAST_EVENT_ID);
        let after = match header.map(|value| value.to_str().unwrap_or("\u{fffd}")) {
            Some(id) if !id.is_empty() => Some(id),
            _ => self.last_event_id.as_deref(),
        };
        Ok(WatchRequest {
            repo,
            branch: branch.map_err(in_field("branch"))?,
            after: after
                .map(EventId::parse)
                .transpose()
                .map_err(in_field("last_event_id"))?,
            caller,
            caller_agent: agent_of(None, agent_header(headers))?,
        })
    }
}

/// How long a stream may live, and the objects that live as long.
struct Lifetime {
    ends_by: Option<Instant>,
    /// Dropped with the stream, so that a function's runtime no longer waits for it.
    _ended: oneshot::Sender<()>,
    connection: Option<Connection>,
}

impl Lifetime {
    /// That of a stream that answers the current request. A function's runtime waits for its end.
    fn of_request(connection: Option<Connection>) -> Lifetime {
        let (ended, waiting) = oneshot::channel();
        let mut ends_by = None;
        defer(|allotted| {
            ends_by = Some(allotted.end_by);
            // An error means that the stream has ended.
            waiting.map(|_| ())
        });
        Lifetime {
            ends_by,
            _ended: ended,
            connection,
        }
    }

    /// Keeps the connection of an admitted `watcher` from making room for others; an unverified one makes room.
    fn keep_connection(&self, watcher: &Watcher) {
        let is_local = matches!(*watcher.app.authenticator, Authenticator::Local { .. });
        if let Some(connection) = &self.connection
            && (is_local || presents_credential(&watcher.headers))
        {
            connection.keep();
        }
    }
}

/// Its responses in the OpenAPI document.
enum EventsResponses {}

impl IntoResponses for EventsResponses {
    fn responses() -> BTreeMap<String, RefOr<Described>> {
        let causes = [Cause::Caller, Cause::Token, Cause::Form, Cause::Question, Cause::Source];
        let mut answers = errors(&causes, Reader::Person, "GET, HEAD", None);
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

//! The watcher of a stream, and the lifetime of the stream.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName};
use coord_protocol::schema::{Branch as BranchName, EventId as EventName, RepoUrl};
use futures::FutureExt;
use serde::Deserialize;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::connection::Connection;
use crate::headers::agent_header;
use coord_auth::{Authenticator, CREDENTIAL_HEADERS, Caller, presents_credential};
use coord_domain::{Branch, EventId};
use coord_runtime::after_response::defer;
use coord_server::admission::caller_address::{caller_address, coming_from};
use coord_server::app::App;
use coord_server::error::ApiError;
use coord_server::operations::fields::{agent_of, parse_optional, parse_repository};
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

/// The headers that identify the caller, and its last event.
pub(super) fn caller_headers(headers: &HeaderMap) -> HeaderMap {
    let is_of_caller = |name: &HeaderName| {
        CREDENTIAL_HEADERS.contains(name)
            || *name == LAST_EVENT_ID
            || ["x-coord-user", "x-coord-agent"].contains(&name.as_str())
    };
    let selected = headers.iter().filter(|(name, _)| is_of_caller(name));
    selected.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The caller that watches a stream, with its credential.
#[derive(Clone)]
pub(super) struct Watcher {
    pub(super) app: Arc<App>,
    pub(super) headers: HeaderMap,
    pub(super) query: EventsQuery,
}

impl Watcher {
    /// Starts the stream.
    pub(super) async fn watch(&self, ends_by: Option<Instant>) -> Result<Stream, ApiError> {
        let request = self.request().await?;
        watch_events(&self.app, request, self.verify(), ends_by).await
    }

    /// A function that verifies the caller again, from the credential.
    pub(super) fn verify(&self) -> Verify {
        let (watcher, address) = (self.clone(), caller_address());
        Box::new(move || {
            let watcher = watcher.clone();
            let verification = async move {
                let request = watcher.request().await?;
                admit_again(&watcher.app, &request).await
            };
            coming_from(address, verification).boxed()
        })
    }

    async fn request(&self) -> Result<WatchRequest, ApiError> {
        let caller = self.app.authenticator.authenticate_reader(&self.headers).await?;
        self.query.parse(caller, &self.headers)
    }
}

impl EventsQuery {
    fn parse(&self, caller: Caller, headers: &HeaderMap) -> Result<WatchRequest, ApiError> {
        let (repo, caller) = parse_repository(&self.repo_url, caller)?;
        let header = headers.get(LAST_EVENT_ID);
        let after = match header.map(|value| value.to_str().unwrap_or("\u{fffd}")) {
            Some(id) if !id.is_empty() => Some(id),
            _ => self.last_event_id.as_deref(),
        };
        Ok(WatchRequest {
            repo,
            branch: parse_optional("branch", self.branch.as_deref(), Branch::parse)?,
            after: parse_optional("last_event_id", after, EventId::parse)?,
            caller,
            caller_agent: agent_of(None, agent_header(headers))?,
        })
    }
}

/// The end of a stream's time, and the objects that live as long as the stream.
pub(super) struct Lifetime {
    pub(super) ends_by: Option<Instant>,
    /// Dropped with the stream, so that a function's runtime no longer waits for it.
    _end_signal: oneshot::Sender<()>,
    connection: Option<Connection>,
}

impl Lifetime {
    /// The lifetime of a stream that is the response to the current request. A function's runtime waits for its end.
    pub(super) fn of_request(connection: Option<Connection>) -> Lifetime {
        let (end_signal, stream_end) = oneshot::channel();
        let mut ends_by = None;
        defer(|allotted| {
            ends_by = Some(allotted.end_by);
            // An error means that the stream has ended.
            stream_end.map(|_| ())
        });
        Lifetime {
            ends_by,
            _end_signal: end_signal,
            connection,
        }
    }

    /// Keeps the server from closing the connection in favor of others, if `watcher` was verified.
    pub(super) fn keep_connection(&self, watcher: &Watcher) {
        let is_local = matches!(*watcher.app.authenticator, Authenticator::Local { .. });
        if let Some(connection) = &self.connection
            && (is_local || presents_credential(&watcher.headers))
        {
            connection.keep();
        }
    }
}

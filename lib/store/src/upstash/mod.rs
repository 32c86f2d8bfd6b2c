//! Upstash Redis over REST: a thin client of its protocol, <https://upstash.com/docs/redis/features/restapi>.
//!
//! A batch is one POST to `/pipeline`. Replies are requested in base64, because plain replies replace bytes that are
//! not UTF-8. Arguments are JSON, which is UTF-8: a batch with any other argument is rejected before anything is sent.

mod answer;
mod event_stream;
mod request;
mod request_batcher;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use coord_protocol::loopback::is_loopback;
use coord_runtime::mutex::lock;
use coord_runtime::root_cause::root_cause;
use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

use request_batcher::RequestBatcher;

use super::functions::Words;
use super::round_trip::{self, Dialect, Failure, RoundTrip, within};
use super::unused_libraries;
use super::{Library, Limits, Request, Store, StoreError, Value};

/// Lets scripts and functions on different repositories run concurrently, because they name all of their keys. Only
/// Upstash knows this flag; Redis 7.0 rejects it. <https://upstash.com/docs/redis/features/key-locking>
const FLAG: &str = "allow-key-locking";

const ENCODING: HeaderName = HeaderName::from_static("upstash-encoding");
const SYNC_TOKEN: HeaderName = HeaderName::from_static("upstash-sync-token");
/// Maximum length of a sync token that is kept and sent back; real ones have tens of bytes.
const SYNC_TOKEN_BYTES: usize = 1024;
/// Pooled connections that idle longer are dropped: a function may have been frozen for minutes between two calls.
const POOL_IDLE: Duration = Duration::from_secs(20);
/// Interval of probes on an idle connection, so that a subscription notices a lost peer.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Maximum number of concurrent requests to a database on the network, where requests do not slow each other down.
const MAX_CONCURRENT: usize = 16;
/// Maximum number of concurrent requests to a database on this machine, where all share the processors.
const MAX_CONCURRENT_LOCAL: usize = 2;

/// An Upstash database, or any other service with its REST protocol.
pub struct UpstashStore {
    wire: Arc<Wire>,
    dialect: Dialect,
    batcher: RequestBatcher,
}

/// The HTTP connection to the database.
struct Wire {
    client: Client,
    url: Url,
    authorization: HeaderValue,
    limits: Limits,
    /// The database's latest sync token. Sent back, it makes a read see this client's own writes.
    sync_token: Mutex<Option<HeaderValue>>,
}

impl std::fmt::Debug for UpstashStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "UpstashStore({})", self.describe())
    }
}

impl UpstashStore {
    /// The database at `url` with the default [`Limits`]. Connects at the first request.
    ///
    /// # Errors
    /// [`StoreError::NotConfigured`] when `url` is not an https URL (loopback hosts may use http), or when the token
    /// cannot be sent.
    pub fn new(url: &str, token: SecretString) -> Result<Self, StoreError> {
        Self::with_limits(url, token, Limits::default())
    }

    /// As [`UpstashStore::new`], with other limits.
    ///
    /// # Errors
    /// See [`UpstashStore::new`].
    pub fn with_limits(url: &str, token: SecretString, limits: Limits) -> Result<Self, StoreError> {
        let url = parse_url(url)?;
        let token = token.expose_secret().trim();
        if token.is_empty() {
            return Err(StoreError::NotConfigured(
                "the token of the Upstash database is empty".into(),
            ));
        }
        let mut authorization = HeaderValue::from_str(&format!("Bearer {token}")).map_err(|_| {
            let message = "the token of the Upstash database holds a character that an HTTP header cannot contain";
            StoreError::NotConfigured(message.into())
        })?;
        authorization.set_sensitive(true);
        let client = client(&url, &limits)?;
        let batcher = RequestBatcher::new(match url.scheme() {
            "https" => MAX_CONCURRENT,
            _ => MAX_CONCURRENT_LOCAL,
        });
        Ok(UpstashStore {
            wire: Arc::new(Wire {
                client,
                url,
                authorization,
                limits,
                sync_token: Mutex::default(),
            }),
            dialect: Dialect::new(FLAG),
            batcher,
        })
    }
}

impl Wire {
    /// The address of `segments` below that of the database.
    fn address(&self, segments: &[&str]) -> Url {
        let mut address = self.url.clone();
        if let Ok(mut path) = address.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        address
    }

    /// Posts `body`, the commands of `calls` calls, and returns their replies.
    async fn exchange(&self, body: String, calls: usize) -> Result<Vec<Value>, Failure> {
        let answer = within(self.limits.request, self.post(body, calls)).await?;
        answer::replies(&answer).map_err(Failure::permanent)
    }

    async fn post(&self, body: String, calls: usize) -> Result<Bytes, Failure> {
        let mut request = self
            .client
            .post(self.address(&["pipeline"]))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ENCODING, "base64");
        if let Some(token) = lock(&self.sync_token).clone() {
            request = request.header(SYNC_TOKEN, token);
        }
        let response = request
            .body(body)
            .send()
            .await
            .map_err(|error| self.unreachable(error))?;
        let status = response.status();
        let token = response
            .headers()
            .get(SYNC_TOKEN)
            .filter(|token| token.len() <= SYNC_TOKEN_BYTES)
            .cloned();
        let answer = self.read_body(response, calls).await?;
        if !status.is_success() {
            return Err(answer::refusal(status, &answer));
        }
        if let Some(token) = token {
            *lock(&self.sync_token) = Some(token);
        }
        Ok(answer)
    }

    async fn read_body(&self, mut response: Response, calls: usize) -> Result<Bytes, Failure> {
        let limit = self.limits.response_bytes.saturating_mul(calls);
        let too_long = || Failure::permanent(StoreError::Malformed(format!("a response of more than {limit} bytes")));
        if response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_long());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(error))? {
            if body.len() + chunk.len() > limit {
                return Err(too_long());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.into())
    }

    fn unreachable(&self, error: reqwest::Error) -> Failure {
        if error.is_timeout() {
            let limit = if error.is_connect() {
                self.limits.connect
            } else {
                self.limits.request
            };
            return Failure::transient(StoreError::Timeout(limit));
        }
        Failure::transient(StoreError::Unreachable(root_cause(&error)))
    }
}

#[async_trait]
impl RoundTrip for UpstashStore {
    async fn send(&self, batch: &[Words<'_>]) -> Result<Vec<Value>, Failure> {
        let body = request::body(batch).map_err(Failure::permanent)?;
        // Replies of scripts are small. Reads may be large, and get a separate request.
        let is_small = batch.iter().all(|words| {
            words
                .first()
                .is_some_and(|name| **name == *b"FCALL" || **name == *b"EVALSHA")
        });
        if !is_small {
            return self.wire.exchange(body, 1).await;
        }
        let wire = Arc::clone(&self.wire);
        let post = move |body, calls| {
            let wire = Arc::clone(&wire);
            async move { wire.exchange(body, calls).await }
        };
        within(self.wire.limits.request, self.batcher.send(body, batch.len(), post)).await
    }
}

#[async_trait]
impl Store for UpstashStore {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        round_trip::run(self, &self.dialect, &self.wire.limits, &batch).await
    }

    async fn delete_unused_libraries(&self, own: &Library) -> Result<(), StoreError> {
        unused_libraries::delete_unused(own, self, &self.dialect, &self.wire.limits).await
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        let wire = &*self.wire;
        let subscribing = async {
            let response = wire
                .client
                .post(wire.address(&["subscribe", channel]))
                .header(AUTHORIZATION, wire.authorization.clone())
                .header(ACCEPT, "text/event-stream")
                .send()
                .await
                .map_err(|error| wire.unreachable(error))?;
            let status = response.status();
            if !status.is_success() {
                let answer = wire.read_body(response, 1).await?;
                return Err(answer::refusal(status, &answer));
            }
            let mut messages = event_stream::messages(response, channel, wire.limits.response_bytes);
            // The first event confirms the subscription: later messages will arrive.
            match messages.next().await {
                Some(event_stream::Event::Subscribed) => Ok(messages),
                _ => Err(Failure::permanent(StoreError::Malformed(
                    "no confirmation of a subscription".into(),
                ))),
            }
        };
        let messages = within(wire.limits.request, subscribing).await?;
        let payloads = messages.filter_map(async |event| match event {
            event_stream::Event::Message(payload) => Some(payload),
            event_stream::Event::Subscribed => None,
        });
        Ok(payloads.boxed())
    }

    fn describe(&self) -> String {
        format!("Upstash at {}", self.wire.url.as_str().trim_end_matches('/'))
    }
}

fn parse_url(text: &str) -> Result<Url, StoreError> {
    let refuse = |problem: &str| {
        Err(StoreError::NotConfigured(format!(
            "the URL of the Upstash database {problem}"
        )))
    };
    let Ok(url) = Url::parse(text.trim()) else {
        return refuse("is not a URL; write for example https://NAME.upstash.io");
    };
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return refuse("must be an address without credential, query or fragment; the token has its own variable");
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => refuse("must begin with https://; otherwise the token would be sent unencrypted"),
        _ => refuse("must begin with https://; a redis:// or rediss:// URL belongs in REDIS_URL"),
    }
}

fn client(url: &Url, limits: &Limits) -> Result<Client, StoreError> {
    let mut builder = Client::builder()
        // A redirect would carry the token to any target.
        .redirect(Policy::none())
        .connect_timeout(limits.connect)
        .pool_idle_timeout(POOL_IDLE)
        .tcp_keepalive(KEEPALIVE)
        .tcp_keepalive_interval(KEEPALIVE)
        .tcp_keepalive_retries(3);
    builder = if url.scheme() == "https" {
        // The system's roots, if there are any, and the built-in ones, so that a minimal container image can connect.
        builder.tls_certs_merge(
            coord_runtime::root_certificates::built_in().filter_map(|root| reqwest::Certificate::from_der(root).ok()),
        )
    } else {
        // Loading hundreds of unused certificates would take most of the time of a start.
        builder.tls_certs_only([])
    };
    if is_loopback(url) {
        // A proxy cannot reach this machine's loopback address.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| {
        StoreError::NotConfigured(format!(
            "the client for Upstash cannot be built: {}",
            root_cause(&error)
        ))
    })
}

#[cfg(test)]
mod tests;

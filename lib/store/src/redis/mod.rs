//! Redis and Valkey over `redis://`, `rediss://` and `unix://`: one multiplexed connection, opened by the first request
//! and replaced when it is lost. It uses RESP2, so that replies have the same types as in Upstash's REST API.

mod address;
mod connection;
mod reply;
mod transport;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use redis::aio::PubSub;

use self::address::Address;
use self::connection::{AbortOnDrop, SharedConnection};
use self::transport::Dialer;
use super::functions::Words;
use super::round_trip::{self, Dialect, Failure, RoundTrip, within};
use super::store::check_ping;
use super::unused_libraries;
use super::{Backlog, Library, Limits, Request, Store, StoreError, Value};

/// A Redis or Valkey server.
pub struct RedisStore {
    connection: SharedConnection,
    dialer: Dialer,
    limits: Limits,
    dialect: Dialect,
}

/// Options of a [`RedisStore`] besides the URL.
#[derive(Clone, Debug, Default)]
pub struct RedisOptions {
    /// Time limits and retries.
    pub limits: Limits,
    /// Certificate authorities to trust for `rediss://`, each in DER, besides the system's and the built-in ones.
    pub extra_roots: Vec<Vec<u8>>,
}

impl std::fmt::Debug for RedisStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "RedisStore({})", self.describe())
    }
}

impl RedisStore {
    /// The server at `url`: `redis://`, `rediss://` (TLS) or `unix://`, with `USER:PASSWORD@` and `/DATABASE` if
    /// needed. Connects at the first request, so that a server that is down is no error here.
    ///
    /// # Errors
    /// [`StoreError::NotConfigured`] when `url` is not such a URL. The text never contains the URL.
    pub fn connect(url: &str) -> Result<Self, StoreError> {
        Self::with_options(url, RedisOptions::default())
    }

    /// As [`RedisStore::connect`], with more options.
    ///
    /// # Errors
    /// See [`RedisStore::connect`]; also when an extra root is not a certificate.
    pub fn with_options(url: &str, options: RedisOptions) -> Result<Self, StoreError> {
        let RedisOptions { limits, extra_roots } = options;
        let dialer = Dialer::new(Address::parse(url)?, &extra_roots, limits.connect)?;
        Ok(RedisStore {
            connection: SharedConnection::new(dialer.clone()),
            dialer,
            limits,
            dialect: Dialect::new(""),
        })
    }
}

#[async_trait]
impl RoundTrip for RedisStore {
    async fn send(&self, batch: &[Words<'_>]) -> Result<Vec<Value>, Failure> {
        let mut pipeline = redis::Pipeline::with_capacity(batch.len());
        for words in batch {
            let bytes = words.iter().map(|word| word.len()).sum();
            let mut command = redis::Cmd::with_capacity(words.len(), bytes);
            for word in words {
                command.arg(word.as_ref());
            }
            pipeline.add_command(command);
        }
        let sending = self.connection.send(&pipeline, batch.len());
        tokio::time::timeout(self.limits.request, sending)
            .await
            .unwrap_or_else(|_| {
                // The connection may be lost unnoticed. If it is only slow, pending requests still get their replies.
                self.connection.abandon();
                Err(Failure::transient(StoreError::Timeout(self.limits.request)))
            })
    }
}

#[async_trait]
impl Store for RedisStore {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        round_trip::run(self, &self.dialect, &self.limits, &batch).await
    }

    async fn delete_unused_libraries(&self, own: &Library) -> Result<(), StoreError> {
        unused_libraries::delete_unused(own, self, &self.dialect, &self.limits).await
    }

    async fn responds(&self) -> Result<(), StoreError> {
        // On a separate connection, because Redis answers nothing on a connection whose write is paused.
        let mut ping = redis::Pipeline::with_capacity(1);
        ping.cmd("PING");
        let connection = SharedConnection::new(self.dialer.clone());
        check_ping(within(self.limits.request, connection.send(&ping, 1)).await?)
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        let subscribing = async {
            let stream = self.dialer.dial().await?;
            let mut connection = PubSub::new(&self.dialer.address.login, stream)
                .await
                .map_err(|error| reply::failure(&error))?;
            connection
                .subscribe(channel)
                .await
                .map_err(|error| reply::failure(&error))?;
            Ok(connection)
        };
        let connection = within(self.limits.request, subscribing).await?;
        let mut messages = connection.into_on_message();
        // The connection reads on even if nobody takes its messages, and would keep any number of them.
        let (backlog, payloads) = Backlog::open();
        let pump = AbortOnDrop(tokio::spawn(async move {
            while let Some(message) = messages.next().await {
                if !backlog.push(&Bytes::copy_from_slice(message.get_payload_bytes())) {
                    break;
                }
            }
        }));
        Ok(payloads
            .map(move |payload| {
                let _pump = &pump;
                payload
            })
            .boxed())
    }

    fn describe(&self) -> String {
        format!("Redis at {}", self.dialer.address)
    }
}

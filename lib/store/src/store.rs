//! The trait [`Store`] and its errors.

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;

use super::promises::{self, Promises};
use super::request::Request;
use super::script::Library;
use super::value::Value;

/// Why a store returned no replies. An error reply to one request is a [`Value::Error`] instead.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// No store is configured; the text names the variables to set.
    #[error("{0}")]
    NotConfigured(String),
    /// The connection failed or broke.
    #[error("the store cannot be reached: {0}")]
    Unreachable(String),
    /// No reply within the time limit.
    #[error("the store did not respond within {0:?}")]
    Timeout(std::time::Duration),
    /// The store rejected the credential.
    #[error("the store refused the credential: {0}")]
    Denied(String),
    /// The reply violates the protocol, or is not an outcome of the script.
    #[error("the reply of the store cannot be read: {0}")]
    Malformed(String),
    /// A script or command failed inside the store.
    #[error("the store reports an error: {0}")]
    Failed(String),
}

/// A connection to the store.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Runs `batch` in order, in **one round trip**, and returns one reply for each request. The batch is not a
    /// transaction; each script in it is. The reply to a request that failed is a [`Value::Error`].
    ///
    /// If a remote store does not know a script yet, there are further round trips, and that script runs after the rest
    /// of its batch. So requests of one batch must not depend on each other.
    ///
    /// Every call ends within the time limit of the connection. Only a batch of repeatable requests is retried.
    ///
    /// # Errors
    /// When there is no reply: see [`StoreError`].
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError>;

    /// The messages published on `channel` from now on. The stream ends when the connection is lost; the caller then
    /// reads the missed messages from the log and subscribes again.
    ///
    /// # Errors
    /// When the subscription failed.
    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError>;

    /// Whether the store keeps its data, as far as it reports that. A missing promise is logged once, as a warning.
    async fn promises(&self) -> Promises {
        match self.run(promises::report_commands()).await {
            Ok(replies) => promises::parse_report(&replies, &self.describe()),
            // The error is reported where the store is needed.
            Err(_) => Promises::Unknown,
        }
    }

    /// Whether it responds at all.
    ///
    /// # Errors
    /// When it does not: see [`StoreError`].
    async fn responds(&self) -> Result<(), StoreError> {
        check_ping(self.run(vec![Request::command(["PING"])]).await?)
    }

    /// Bytes that a health check must write to show that a claim could be written too.
    fn probe_bytes(&self) -> usize {
        0
    }

    /// Deletes Coord's function libraries that no process has called for a week, at most once a day. Does nothing in
    /// stores without such libraries.
    ///
    /// # Errors
    /// When there is no reply: see [`StoreError`].
    async fn delete_unused_libraries(&self, _own: &Library) -> Result<(), StoreError> {
        Ok(())
    }

    /// A description for people: `embedded store at .coord/store.redb`. It never contains a credential.
    fn describe(&self) -> String;
}

/// Fails if the reply to PING is an error.
pub(super) fn check_ping(replies: Vec<Value>) -> Result<(), StoreError> {
    match replies.into_iter().next() {
        Some(Value::Error(error)) => Err(StoreError::Failed(error)),
        _ => Ok(()),
    }
}

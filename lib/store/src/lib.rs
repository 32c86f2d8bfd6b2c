//! Connections to the state. A [`Store`] runs the scripts of [`coord_state`]: [`upstash`] (REST), [`redis`] (`redis://`,
//! `rediss://`), or the embedded store of `coord serve`.

mod backlog;
pub mod connect;
mod functions;
mod limits;
mod promises;
pub mod redis;
mod round_trip;
pub mod script;
mod timed;
pub mod upstash;
mod value;

pub use backlog::Backlog;
pub use limits::Limits;
pub use promises::{BrokenPromise, Promises};
pub use script::{Library, Script};
pub use timed::TimedStore;
pub use value::Value;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;

/// One request to a store.
#[derive(Clone, Debug)]
pub enum Request {
    /// A plain command, name first: `["HGETALL", key]`.
    Command(Vec<Vec<u8>>),
    /// A Lua script with its KEYS and ARGV.
    Script {
        /// The script.
        script: &'static Script,
        /// KEYS: every key that the script touches.
        keys: Vec<String>,
        /// ARGV.
        args: Vec<Vec<u8>>,
    },
}

impl Request {
    /// A plain command from its words.
    pub fn command<const N: usize>(words: [&str; N]) -> Self {
        Request::Command(words.iter().map(|word| word.as_bytes().to_vec()).collect())
    }

    /// Whether running it twice has the effect of running it once, so that it may be repeated after a lost reply.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Request::Command(words) => words.first().is_some_and(|name| {
                const READS: [&str; 14] = [
                    "EXISTS",
                    "GET",
                    "HGET",
                    "HGETALL",
                    "HKEYS",
                    "HLEN",
                    "HMGET",
                    "PING",
                    "TIME",
                    "XRANGE",
                    "XREVRANGE",
                    "ZCARD",
                    "ZRANGE",
                    "ZSCORE",
                ];
                READS.iter().any(|read| name.eq_ignore_ascii_case(read.as_bytes()))
            }),
            Request::Script { script, .. } => script.is_repeatable,
        }
    }
}

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
    /// Runs `batch` in order, in **one round trip**, and returns one reply for each request. The batch is not a transaction;
    /// each script in it is. A request that failed has a [`Value::Error`] in its place.
    ///
    /// If a remote store does not know a script yet, there are further round trips, and that script runs after the rest of its
    /// batch: requests of one batch must not depend on each other.
    ///
    /// Every call ends within the time limit of the connection. Only a batch of repeatable requests is retried.
    ///
    /// # Errors
    /// When there is no reply: see [`StoreError`].
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError>;

    /// The messages published on `channel` from now on. The stream ends when the connection is lost; then the caller reads
    /// the missed messages from the log and subscribes again.
    ///
    /// # Errors
    /// When the subscription failed.
    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError>;

    /// Whether it keeps its data, as far as it reports that. A missing promise is a warning in the log, once.
    async fn promises(&self) -> Promises {
        promises::ask(self).await
    }

    /// Whether it responds at all.
    ///
    /// # Errors
    /// When it does not: see [`StoreError`].
    async fn responds(&self) -> Result<(), StoreError> {
        responded(self.run(vec![Request::command(["PING"])]).await?)
    }

    /// Bytes that a test must write to show that a claim could be written too.
    fn probe_bytes(&self) -> usize {
        0
    }

    /// Deletes libraries of functions of Coord that no process has called for a week, at most once a day. It changes nothing
    /// in stores without such libraries.
    ///
    /// # Errors
    /// When there is no reply: see [`StoreError`].
    async fn delete_unused_libraries(&self, _own: &Library) -> Result<(), StoreError> {
        Ok(())
    }

    /// A description for people: `embedded store at .coord/store.redb`. It never contains a credential.
    fn describe(&self) -> String;
}

/// Whether the replies to a PING are no error.
fn responded(replies: Vec<Value>) -> Result<(), StoreError> {
    match replies.into_iter().next() {
        Some(Value::Error(error)) => Err(StoreError::Failed(error)),
        _ => Ok(()),
    }
}

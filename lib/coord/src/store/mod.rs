//! Connections to the state. A [`Store`] runs the scripts of [`crate::state`]: [`upstash`] (REST), [`redis`] (`redis://`,
//! `rediss://`), or the embedded one of `coord serve`.

pub mod connect;
mod limits;
mod promises;
pub mod redis;
pub(crate) mod root_certificates;
mod round_trip;
pub mod script;
mod timed;
pub mod upstash;
mod value;

pub use limits::Limits;
pub use promises::{BrokenPromise, Promises};
pub use script::Script;
pub use timed::TimedStore;
pub use value::Value;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;

/// One thing to ask of a store.
#[derive(Clone, Debug)]
pub enum Request {
    /// A plain command, name first: `["HGETALL", key]`.
    Command(Vec<Vec<u8>>),
    /// A Lua script with its KEYS and ARGV.
    Script {
        /// Which script.
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

    /// Whether asking twice is the same as asking once, so that a lost answer may be asked for again.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Request::Command(words) => words.first().is_some_and(|name| {
                const READS: [&str; 13] = [
                    "EXISTS", "GET", "HGET", "HGETALL", "HKEYS", "HLEN", "HMGET", "PING", "TIME", "XRANGE", "ZCARD",
                    "ZRANGE", "ZSCORE",
                ];
                READS.iter().any(|read| name.eq_ignore_ascii_case(read.as_bytes()))
            }),
            Request::Script { script, .. } => script.is_repeatable,
        }
    }
}

/// Why a store gave no answer at all. An error reply to one request is a [`Value::Error`] instead.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// No store is configured; the text names the variables to set.
    #[error("{0}")]
    NotConfigured(String),
    /// The connection could not be made, or broke.
    #[error("the store cannot be reached: {0}")]
    Unreachable(String),
    /// No answer within the time limit.
    #[error("the store did not answer within {0:?}")]
    Timeout(std::time::Duration),
    /// The store refused our credential.
    #[error("the store refused the credential: {0}")]
    Denied(String),
    /// The answer is not of the protocol, or not what the script answers.
    #[error("the reply of the store cannot be read: {0}")]
    Malformed(String),
    /// A script or command failed inside the store.
    #[error("the store reports an error: {0}")]
    Failed(String),
}

/// A connection to the state.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// Runs `batch` in order, in **one round trip**, and gives one reply for each request. The batch is not one
    /// transaction; each script in it is. A request that failed alone is a [`Value::Error`] in its place.
    ///
    /// A remote store that does not know a script yet makes it two round trips, and that script runs after the rest of
    /// its batch: requests of one batch must not build on each other.
    ///
    /// Every call ends within the connection's own time limit. Only a batch of repeatable requests is tried again.
    ///
    /// # Errors
    /// When no answer came: see [`StoreError`].
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError>;

    /// Runs `batch` as one transaction (MULTI, EXEC), in one round trip: nothing of others comes between. A request that
    /// fails when it is its turn is a [`Value::Error`] in its place, and the others still run. Never tried again.
    ///
    /// # Errors
    /// See [`StoreError`]; [`StoreError::Failed`] when the transaction was discarded as a whole, or when this kind of store
    /// has no transactions beside its scripts.
    async fn run_atomically(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        let _ = batch;
        Err(StoreError::Failed(
            "ERR transactions are not supported by this store".into(),
        ))
    }

    /// The messages published on `channel` from now on. The stream ends when the connection is lost; the caller reads
    /// what it missed from the log and subscribes again.
    ///
    /// # Errors
    /// When the subscription could not be made.
    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError>;

    /// Whether it keeps what it is told, as far as it says so of itself. What it does not promise is a warning in the log, once.
    async fn promises(&self) -> Promises {
        promises::ask(self).await
    }

    /// Whether it can be written, shown while a client's script holds up everything else. Pending where no such script runs, and in
    /// stores that run none.
    ///
    /// # Errors
    /// When it cannot be written: see [`StoreError`].
    async fn probe_beside_client_script(&self) -> Result<(), StoreError> {
        std::future::pending().await
    }

    /// What this is, for people: `embedded store at .coord/store.redb`. Never holds a credential.
    fn describe(&self) -> String;
}

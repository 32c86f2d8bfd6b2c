//! The one connection that all requests share.
//!
//! The `redis` crate's own manager detects a lost connection only when a request on it fails, so that the first claim
//! after an idle hour would be OFFLINE. Here, the task that drives a connection reports when it ends, so that a lost
//! connection is replaced before anything is sent on it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use coord_runtime::mutex::lock;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use tokio::task::JoinHandle;

use super::reply;
use super::transport::Dialer;
use crate::Value;
use crate::round_trip::{Failure, within};

/// A connection, and whether it is open.
#[derive(Clone)]
struct OpenConnection {
    connection: MultiplexedConnection,
    is_open: Arc<AtomicBool>,
    /// The task that drives the connection, until the last request on it has ended.
    _driver: Arc<AbortOnDrop>,
}

/// Aborts its task when dropped.
pub(super) struct AbortOnDrop(pub JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An attempt to connect, shared by all requests that need the connection; then its outcome.
type Attempt = Shared<BoxFuture<'static, Result<OpenConnection, Failure>>>;

/// The connection to one server, made on demand.
pub(super) struct SharedConnection {
    dialer: Dialer,
    attempt: Mutex<Option<Attempt>>,
}

impl SharedConnection {
    /// A connection to the server of `dialer`.
    pub fn new(dialer: Dialer) -> Self {
        SharedConnection {
            dialer,
            attempt: Mutex::default(),
        }
    }

    /// Sends `pipeline`, of `count` commands, and returns their replies.
    pub async fn send(&self, pipeline: &redis::Pipeline, count: usize) -> Result<Vec<Value>, Failure> {
        let mut open = self.open().await?;
        let replies = open
            .connection
            .send_packed_commands(pipeline, 0, count)
            .await
            .map_err(|error| {
                if !reply::is_command_error(&error) {
                    open.is_open.store(false, Ordering::Release);
                }
                reply::failure(&error)
            })?;
        reply::replies(replies)
    }

    /// Makes the next request open a new connection. Requests on the current connection still get their replies.
    pub fn abandon(&self) {
        *lock(&self.attempt) = None;
    }

    async fn open(&self) -> Result<OpenConnection, Failure> {
        let attempt = {
            let mut current = lock(&self.attempt);
            match current.as_ref().filter(|attempt| is_usable(attempt)) {
                Some(attempt) => attempt.clone(),
                None => current.insert(start_attempt(self.dialer.clone())).clone(),
            }
        };
        attempt.await
    }
}

/// Whether `attempt` is in progress, or ended with a connection that is still open.
fn is_usable(attempt: &Attempt) -> bool {
    match attempt.peek() {
        None => true,
        Some(Ok(open)) => open.is_open.load(Ordering::Acquire),
        Some(Err(_)) => false,
    }
}

fn start_attempt(dialer: Dialer) -> Attempt {
    let attempt = async move { within(dialer.limit, connect(&dialer)).await };
    let attempt = attempt.boxed().shared();
    // In its own task, it continues even if the caller gives up.
    tokio::spawn(attempt.clone());
    attempt
}

async fn connect(dialer: &Dialer) -> Result<OpenConnection, Failure> {
    let stream = dialer.dial().await?;
    // Callers enforce the limits. The crate's default of half a second would be too short.
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(None)
        .set_response_timeout(None);
    let (connection, driver) = MultiplexedConnection::new_with_config(&dialer.address.login, stream, config)
        .await
        .map_err(|error| reply::login_failure(&error))?;
    let is_open = Arc::new(AtomicBool::new(true));
    let task = tokio::spawn({
        let is_open = is_open.clone();
        async move {
            driver.await;
            is_open.store(false, Ordering::Release);
        }
    });
    Ok(OpenConnection {
        connection,
        is_open,
        _driver: Arc::new(AbortOnDrop(task)),
    })
}

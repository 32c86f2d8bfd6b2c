//! The one connection that all requests share.
//!
//! The `redis` crate's own manager learns that a connection is gone from the request that fails on it: the first claim
//! after an idle hour would be answered OFFLINE. Here the task that drives a connection says when it has ended, so that a
//! lost connection is made again before anything is sent on it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use tokio::task::AbortHandle;

use super::reply;
use super::transport::Dialer;
use crate::store::round_trip::{Failure, Mode};
use crate::store::{StoreError, Value};

/// A connection and whether it is still one.
#[derive(Clone)]
struct Line {
    connection: MultiplexedConnection,
    is_open: Arc<AtomicBool>,
    _driver: Arc<Driver>,
}

/// Ends the task that drives a connection when the last request on it is done.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An attempt to connect, which everybody who wants the connection waits for; then its outcome.
type Attempt = Shared<BoxFuture<'static, Result<Line, Failure>>>;

/// The connection to one server, made when it is needed.
pub(super) struct Link {
    dialer: Dialer,
    attempt: Mutex<Option<Attempt>>,
}

impl Link {
    /// To the server of `dialer`.
    pub fn new(dialer: Dialer) -> Self {
        Link {
            dialer,
            attempt: Mutex::default(),
        }
    }

    /// Sends `pipeline`, of `count` commands, and gives their replies.
    pub async fn send(&self, pipeline: &redis::Pipeline, count: usize, mode: Mode) -> Result<Vec<Value>, Failure> {
        let mut line = self.line().await?;
        // A transaction answers QUEUED to each command and OK to MULTI; only what EXEC answers counts.
        let (skipped, kept) = if mode == Mode::Transaction {
            (count + 1, 1)
        } else {
            (0, count)
        };
        let replies = line
            .connection
            .send_packed_commands(pipeline, skipped, kept)
            .await
            .map_err(|error| {
                if !reply::is_of_one_command(&error) {
                    line.is_open.store(false, Ordering::Release);
                }
                reply::failure(&error)
            })?;
        if mode == Mode::Transaction {
            reply::executed(replies)
        } else {
            reply::replies(replies)
        }
    }

    /// Lets the next request connect anew. Those that wait on the present connection still get their replies.
    pub fn abandon(&self) {
        *self.attempt.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn line(&self) -> Result<Line, Failure> {
        let attempt = {
            let mut current = self.attempt.lock().unwrap_or_else(PoisonError::into_inner);
            match current.as_ref().filter(|attempt| is_usable(attempt)) {
                Some(attempt) => attempt.clone(),
                None => current.insert(begin(self.dialer.clone())).clone(),
            }
        };
        attempt.await
    }
}

/// Whether `attempt` is under way, or ended with a connection that is still open.
fn is_usable(attempt: &Attempt) -> bool {
    match attempt.peek() {
        None => true,
        Some(Ok(line)) => line.is_open.load(Ordering::Acquire),
        Some(Err(_)) => false,
    }
}

fn begin(dialer: Dialer) -> Attempt {
    let attempt = async move {
        let limit = dialer.limit();
        let connecting = tokio::time::timeout(limit, connect(&dialer)).await;
        connecting.unwrap_or_else(|_| Err(Failure::passing(StoreError::Timeout(limit))))
    };
    let attempt = attempt.boxed().shared();
    // In a task of its own it goes on although whoever asked for it has given up.
    tokio::spawn(attempt.clone());
    attempt
}

async fn connect(dialer: &Dialer) -> Result<Line, Failure> {
    let stream = dialer.dial().await?;
    // The limits are kept by the callers; the crate's own default of half a second would undercut them.
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(None)
        .set_response_timeout(None);
    let (connection, driver) = MultiplexedConnection::new_with_config(dialer.address().login(), stream, config)
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
    Ok(Line {
        connection,
        is_open,
        _driver: Arc::new(Driver(task.abort_handle())),
    })
}

//! The embedded store: the same Lua scripts as on Redis, over a file, in this process.
//!
//! [`EmbeddedStore`] puts calls in a [`queue`], from which one thread runs them in rounds ([`worker`], [`engine`]).
//! Scripts are Lua 5.1 with the API of Redis 7.0 ([`lua`]) and call [`commands`], which work on names and collections
//! ([`keyspace`]), which are [`records`], seen through [`layers`] of changes that are not yet on the [`disk`]. One
//! thread writes these ([`committer`]), many scripts' changes in one transaction.
//!
//! **Durability.** An answer is given when every change that it made *or saw* is on the medium. Nothing that was
//! answered is lost by a killed process or a power cut, and nobody waits for a change that does not concern him. When the
//! disk fails, callers hear it, reading goes on with what the disk holds, and the next change is tried again ([`committer`]).
//!
//! **Where it differs from Redis.** A script that raises an error leaves no change at all (Redis keeps what was written
//! before). A script of ours that runs for 5 seconds is ended, and a client's after 2,
//! or when it takes more than 64 MiB. `MAXLEN ~` trims exactly. HGETALL, KEYS and SCAN have an order of
//! their own. Sets, lists, blocking commands and transactions are not there: unknown commands are answered as such.

mod commands;
mod committer;
mod disk;
mod engine;
mod failure;
mod glob;
mod keyspace;
mod layers;
mod lua;
mod medium;
mod number;
mod progress;
mod pubsub;
mod queue;
mod record_cache;
mod records;
#[cfg(test)]
mod tests;
mod worker;

pub use failure::OpenError;

use async_trait::async_trait;
use bytes::Bytes;
use committer::Shared;
use coord::store::{BrokenPromise, Promises, Request, Store, StoreError, Value};
use disk::Disk;
use engine::Engine;
use futures::stream::BoxStream;
use keyspace::Keyspace;
use layers::Layers;
use lua::Interpreter;
use parking_lot::{Condvar, Mutex};
use progress::Progress;
use pubsub::Channels;
use queue::{Job, Queue};
use redb::backends::InMemoryBackend;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a call may wait for its turn and for the disk.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// A store in a file of its own. Clones are the same store; when the last one is dropped, what is pending is written.
#[derive(Clone)]
pub struct EmbeddedStore {
    open: Arc<Open>,
}

/// What a store has done since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Scripts run, failed ones too.
    pub scripts: u64,
    /// Plain commands run.
    pub commands: u64,
    /// Transactions written to the disk. Fewer than scripts that change something, when many run at once.
    pub commits: u64,
}

/// The file of a store.
struct Place {
    path: PathBuf,
    /// It was not there before.
    is_new: bool,
}

struct Open {
    place: Option<Place>,
    queue: Arc<Queue>,
    shared: Arc<Shared>,
    is_closing: Arc<AtomicBool>,
    /// The engine's and the committer's.
    threads: Mutex<Option<[JoinHandle<()>; 2]>>,
}

impl EmbeddedStore {
    /// Opens the store in the file at `path`, or makes a new one. Its folder must be there. After a crash the file is
    /// checked and repaired first, in time that grows with its size; up to 256 MiB it is checked always.
    ///
    /// # Errors
    /// When the file is in use, is not a store, is damaged, or cannot be read and written.
    pub fn open(path: &Path) -> Result<EmbeddedStore, OpenError> {
        let before = path.metadata().map(|file| file.len());
        if before.as_ref().is_ok_and(|length| *length == 0) {
            tracing::warn!(
                path = %path.display(),
                "the file of the embedded store was there and empty: what was locked before is not known any more"
            );
        }
        let place = Place {
            path: path.to_owned(),
            is_new: before.is_err(),
        };
        Self::over(Disk::open(path)?, Some(place))
    }

    /// A store without a file, which is gone when it is dropped.
    ///
    /// # Errors
    /// When the interpreter or the thread cannot be started.
    pub fn in_memory() -> Result<EmbeddedStore, OpenError> {
        Self::over(Disk::over(InMemoryBackend::new())?, None)
    }

    fn over(mut disk: Disk, place: Option<Place>) -> Result<EmbeddedStore, OpenError> {
        let snapshot = disk.snapshot().map_err(OpenError::Start)?;
        let channels = Arc::new(Channels::default());
        let keyspace = Arc::new(Mutex::new(Keyspace::new(Layers::new(snapshot), channels.clone())));
        let shared = Arc::new(Shared {
            keyspace,
            channels,
            bell: Condvar::new(),
            progress: Progress::default(),
            scripts: AtomicU64::new(0),
            commands: AtomicU64::new(0),
            commits: AtomicU64::new(0),
        });
        let queue = Arc::new(Queue::default());
        let engine = start_engine(&queue, &shared)?;
        let is_closing = Arc::new(AtomicBool::new(false));
        let committer = {
            let (shared, is_closing) = (shared.clone(), is_closing.clone());
            std::thread::Builder::new()
                .name("coord-commit".to_owned())
                .spawn(move || committer::run(&mut disk, &shared, &|| is_closing.load(Ordering::Acquire)))
        };
        let committer = committer.map_err(|error| {
            queue.close();
            OpenError::Start(error.to_string())
        })?;
        Ok(EmbeddedStore {
            open: Arc::new(Open {
                place,
                queue,
                shared,
                is_closing,
                threads: Mutex::new(Some([engine, committer])),
            }),
        })
    }

    /// Writes what is pending and lets go of the file. Requests that come later, by any clone, fail. Blocks until the
    /// disk is done.
    pub fn close(&self) {
        self.open.close();
    }

    /// What this store has done since it was opened.
    pub fn stats(&self) -> Stats {
        Stats {
            scripts: self.open.shared.scripts.load(Ordering::Relaxed),
            commands: self.open.shared.commands.load(Ordering::Relaxed),
            commits: self.open.shared.commits.load(Ordering::Relaxed),
        }
    }
}

/// Starts the thread of the engine, which makes the interpreter for itself.
fn start_engine(queue: &Arc<Queue>, shared: &Arc<Shared>) -> Result<JoinHandle<()>, OpenError> {
    let (queue, shared) = (queue.clone(), shared.clone());
    let (started, is_started) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new()
        .name("coord-engine".to_owned())
        .stack_size(worker::STACK_BYTES)
        .spawn(move || {
            let interpreter = match Interpreter::new(shared.keyspace.clone()) {
                Ok(interpreter) => interpreter,
                Err(error) => {
                    // Whoever opens the store waits for this.
                    let _ = started.send(Err(error));
                    return;
                }
            };
            let _ = started.send(Ok(()));
            worker::run(Engine::new(interpreter, shared.keyspace.clone()), &queue, &shared);
        })
        .map_err(|error| OpenError::Start(error.to_string()))?;
    match is_started.recv() {
        Ok(started) => started.map(|()| thread),
        Err(_) => Err(OpenError::Start("the thread of the engine ended".to_owned())),
    }
}

impl Open {
    async fn ask(&self, requests: Vec<Request>, is_atomic: bool) -> Result<Vec<Value>, StoreError> {
        let (reply, answered) = oneshot::channel();
        if !self.queue.push(Job::new(requests, is_atomic, reply)) {
            return Err(closed());
        }
        match tokio::time::timeout(TIME_LIMIT, answered).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(closed())),
            Err(_) => Err(StoreError::Timeout(TIME_LIMIT)),
        }
    }

    fn close(&self) {
        self.queue.close();
        let Some([engine, committer]) = self.threads.lock().take() else {
            return;
        };
        let is_engine_well = engine.join().is_ok();
        {
            // With the lock held, the committer either waits for the bell or looks at the flag before it waits.
            let _keyspace = self.shared.keyspace.lock();
            self.is_closing.store(true, Ordering::Release);
            self.shared.bell.notify_all();
        }
        if committer.join().is_err() || !is_engine_well {
            tracing::error!("a thread of the embedded store panicked");
        }
        self.shared.channels.close();
    }
}

fn closed() -> StoreError {
    StoreError::Unreachable("the embedded store is closed".to_owned())
}

impl Drop for Open {
    fn drop(&mut self) {
        self.close();
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        self.open.ask(batch, false).await
    }

    /// Nothing comes between the requests. A crash may keep the first of them alone; no answer is given then.
    async fn run_atomically(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        self.open.ask(batch, true).await
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        if self.open.queue.is_closed() {
            return Err(closed());
        }
        Ok(self.open.shared.channels.subscribe(channel.as_bytes()))
    }

    /// A file keeps what was answered, and nothing is evicted.
    async fn promises(&self) -> Promises {
        match self.open.place {
            Some(_) => Promises::Kept,
            None => Promises::Broken([BrokenPromise::NotPersistent].into()),
        }
    }

    fn describe(&self) -> String {
        match &self.open.place {
            Some(Place { path, is_new: false }) => format!("embedded store at {}", path.display()),
            Some(Place { path, is_new: true }) => {
                format!("embedded store at {} (new: nothing is locked)", path.display())
            }
            None => "embedded store in memory".to_owned(),
        }
    }
}

//! The embedded store: the same Lua scripts as on Redis, over a file, in this process.
//!
//! [`EmbeddedStore`] puts calls in a [`queue`], from which one thread runs them in rounds ([`worker`], [`engine`]).
//! Scripts are functions of Coord's library, in Lua 5.1 with the API of Redis 7.0 ([`lua`]). They call [`commands`],
//! which work on names and collections ([`keyspace`]). Reads do not wait for a long script ([`deferred_reads`]). Names
//! and collections consist of [`records`], seen through [`layers`] of changes that are not yet on the [`disk`]. Another
//! thread writes the changes of many scripts in one transaction ([`committer`]).
//!
//! **Durability.** A call is answered when every change that it made *or read* is on the medium. A killed process or a
//! power failure loses nothing that was answered, and no call waits for unrelated changes. When the disk fails, waiting
//! calls fail, reads go on with the disk's content, and the next change is tried again ([`committer`]).
//!
//! **Differences from Redis.** A script that raises an error leaves no change at all (Redis keeps earlier writes). A
//! script is ended after 5 seconds, or above 1 GiB of memory ([`lua`]). `MAXLEN ~` trims exactly. HGETALL, KEYS and
//! SCAN use a different order. Sets, lists, blocking commands, transactions, and clients' own scripts and functions are
//! not supported: they are unknown commands.

mod commands;
mod committer;
mod deferred_reads;
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
use committer::CommitState;
use coord_files::{Anchor, PathState};
use coord_state::health::keys::PROBE;
use coord_store::{BrokenPromise, Promises, Request, Store, StoreError, Value};
use deferred_reads::DeferredReads;
use disk::Disk;
use engine::Engine;
use futures::stream::BoxStream;
use keyspace::{Clock, Keyspace};
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
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;

/// Longest time of a call, including the wait for the queue and the disk.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// A store in a file. Clones share the store; pending changes are written when the last one is dropped.
#[derive(Clone)]
pub struct EmbeddedStore {
    open: Arc<OpenStore>,
}

/// Counters of a store since it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Scripts that were run, failed ones included.
    pub scripts: u64,
    /// Plain commands that were run.
    pub commands: u64,
    /// Transactions written to the disk. Concurrent scripts share one.
    pub commits: u64,
}

struct StoreFile {
    path: PathBuf,
    /// Whether this store created the file.
    is_new: bool,
    /// `None` where the operating system does not open the file a second time.
    anchor: Option<Anchor>,
}

impl StoreFile {
    /// Whether the path names another file now, or none. Then writes are lost, and another process may open the path.
    fn is_lost(&self) -> bool {
        self.anchor
            .as_ref()
            .is_some_and(|anchor| anchor.path_state() != PathState::Same)
    }
}

struct OpenStore {
    /// `None` for a store in memory.
    file: Option<StoreFile>,
    queue: Arc<Queue>,
    shared: Arc<CommitState>,
    is_closing: Arc<AtomicBool>,
    /// The threads of the engine and of the committer.
    threads: Mutex<Option<[JoinHandle<()>; 2]>>,
}

impl EmbeddedStore {
    /// Opens the store in the file at `path`, or creates it; its folder must exist. After a crash, the file is checked
    /// and repaired first, which takes longer the larger it is. Files up to 256 MiB are always checked.
    ///
    /// # Errors
    /// When the file is in use, is not a store, is damaged, or cannot be read and written.
    pub fn open(path: &Path) -> Result<EmbeddedStore, OpenError> {
        Self::open_at(path, false)
    }

    /// The same, and checks the file whatever its size.
    ///
    /// # Errors
    /// As those of [`Self::open`].
    pub fn open_checked(path: &Path) -> Result<EmbeddedStore, OpenError> {
        Self::open_at(path, true)
    }

    fn open_at(path: &Path, is_always_checked: bool) -> Result<EmbeddedStore, OpenError> {
        let old_length = path.metadata().map(|file| file.len());
        if old_length.as_ref().is_ok_and(|length| *length == 0) {
            tracing::warn!(
                path = %path.display(),
                "the file of the embedded store was empty: earlier locks are lost"
            );
        }
        let disk = Disk::open(path, is_always_checked)?;
        let file = StoreFile {
            path: path.to_owned(),
            is_new: old_length.is_err(),
            anchor: Anchor::at(path).ok(),
        };
        Self::start(disk, Some(file), Arc::new(SystemTime::now))
    }

    /// A store without a file; its state is gone when it is dropped. With another clock than the system's, a simulation
    /// runs hours of locks in seconds.
    ///
    /// # Errors
    /// When the interpreter or a thread cannot be started.
    pub fn in_memory_by(clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Result<EmbeddedStore, OpenError> {
        Self::start(Disk::with_backend(InMemoryBackend::new())?, None, Arc::new(clock))
    }

    /// Starts the threads of a store on `disk`.
    fn start(mut disk: Disk, file: Option<StoreFile>, clock: Clock) -> Result<EmbeddedStore, OpenError> {
        let snapshot = disk.snapshot().map_err(OpenError::Start)?;
        let channels = Arc::new(Channels::default());
        let keyspace = Keyspace::new(Layers::new(snapshot), channels.clone(), clock);
        let shared = Arc::new(CommitState {
            keyspace: Arc::new(Mutex::new(keyspace)),
            channels,
            wakeup: Condvar::new(),
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
            open: Arc::new(OpenStore {
                file,
                queue,
                shared,
                is_closing,
                threads: Mutex::new(Some([engine, committer])),
            }),
        })
    }

    /// Writes pending changes and closes the file. Later requests of any clone fail. Blocks until the file is closed.
    pub fn close(&self) {
        self.open.close();
    }

    /// Whether its file was deleted or replaced. Then every call fails, because another process may use the path.
    pub fn is_lost(&self) -> bool {
        self.open.is_lost()
    }

    /// Counters of this store since it was opened.
    pub fn stats(&self) -> Stats {
        Stats {
            scripts: self.open.shared.scripts.load(Ordering::Relaxed),
            commands: self.open.shared.commands.load(Ordering::Relaxed),
            commits: self.open.shared.commits.load(Ordering::Relaxed),
        }
    }
}

/// Starts the engine's thread, which creates its own interpreter.
fn start_engine(queue: &Arc<Queue>, shared: &Arc<CommitState>) -> Result<JoinHandle<()>, OpenError> {
    let (queue, shared) = (queue.clone(), shared.clone());
    let (start_sender, start_receiver) = std::sync::mpsc::channel();
    let thread = std::thread::Builder::new()
        .name("coord-engine".to_owned())
        .stack_size(worker::STACK_BYTES)
        .spawn(move || {
            let deferred_reads = DeferredReads::new(queue.clone(), shared.clone());
            let interpreter = match Interpreter::new(shared.keyspace.clone(), Some(deferred_reads)) {
                Ok(interpreter) => interpreter,
                Err(error) => {
                    // The caller that opens the store waits for this.
                    let _ = start_sender.send(Err(error));
                    return;
                }
            };
            let _ = start_sender.send(Ok(()));
            worker::run(Engine::new(interpreter, shared.keyspace.clone()), &queue, &shared);
        })
        .map_err(|error| OpenError::Start(error.to_string()))?;
    match start_receiver.recv() {
        Ok(outcome) => outcome.map(|()| thread),
        Err(_) => Err(OpenError::Start("the thread of the engine ended".to_owned())),
    }
}

impl OpenStore {
    async fn run(&self, requests: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        if self.is_lost() {
            return Err(lost_file_error());
        }
        let (reply, answer) = oneshot::channel();
        if !self.queue.push(Job::new(requests, reply)) {
            return Err(closed_error());
        }
        match tokio::time::timeout(TIME_LIMIT, answer).await {
            Ok(answer) => answer.unwrap_or_else(|_| Err(closed_error())),
            Err(_) => Err(StoreError::Timeout(TIME_LIMIT)),
        }
    }

    fn is_lost(&self) -> bool {
        self.file.as_ref().is_some_and(StoreFile::is_lost)
    }

    fn close(&self) {
        self.queue.close();
        let Some([engine, committer]) = self.threads.lock().take() else {
            return;
        };
        let has_engine_panicked = engine.join().is_err();
        {
            // While this holds the lock, the committer either waits for the notification, or has yet to check the flag.
            let _keyspace = self.shared.keyspace.lock();
            self.is_closing.store(true, Ordering::Release);
            self.shared.wakeup.notify_all();
        }
        if committer.join().is_err() || has_engine_panicked {
            tracing::error!("a thread of the embedded store panicked");
        }
        self.shared.channels.close();
    }
}

fn lost_file_error() -> StoreError {
    StoreError::Unreachable("the file of the embedded store was deleted or replaced".to_owned())
}

fn closed_error() -> StoreError {
    StoreError::Unreachable("the embedded store is closed".to_owned())
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        self.close();
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        self.open.run(batch).await
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        if self.open.queue.is_closed() {
            return Err(closed_error());
        }
        Ok(self.open.shared.channels.subscribe(channel.as_bytes()))
    }

    /// A file keeps everything that was answered, and evicts nothing.
    async fn promises(&self) -> Promises {
        match self.open.file {
            Some(_) => Promises::Kept,
            None => Promises::Broken([BrokenPromise::NotPersistent].into()),
        }
    }

    /// Reads a key, because PING succeeds whatever happens to the disk.
    async fn responds(&self) -> Result<(), StoreError> {
        self.run(vec![Request::command(["GET", PROBE])]).await.map(drop)
    }

    fn probe_bytes(&self) -> usize {
        records::PROBE_BYTES
    }

    fn describe(&self) -> String {
        match &self.open.file {
            Some(StoreFile {
                path, is_new: false, ..
            }) => format!("embedded store at {}", path.display()),
            Some(StoreFile { path, is_new: true, .. }) => {
                format!("embedded store at {} (new: nothing is locked)", path.display())
            }
            None => "embedded store in memory".to_owned(),
        }
    }
}

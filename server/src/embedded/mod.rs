//! The embedded store: the same Lua scripts as on Redis, over a file, in this process.
//!
//! [`EmbeddedStore`] runs requests one at a time, in the task that asks ([`engine`]): a script is short and bounded.
//! Scripts are Lua 5.1 with the API of Redis 7.0 ([`lua`]) and call [`commands`], which work on names and collections
//! ([`keyspace`]), which are [`records`], seen through [`layers`] of changes that are not yet on the [`disk`]. One
//! thread writes these ([`committer`]), many scripts' changes in one transaction.
//!
//! **Durability.** An answer is given when every change that it made *or saw* is on the medium. Nothing that was
//! answered is lost by a killed process or a power cut, and nobody waits for a change that does not concern him.
//!
//! **Where it differs from Redis.** A script that raises an error leaves no change at all (Redis keeps what was written
//! before). A script that runs for 5 seconds is ended. `MAXLEN ~` trims exactly. HGETALL, KEYS and SCAN have an order of
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
mod number;
mod pubsub;
mod records;
#[cfg(test)]
mod tests;

pub use failure::OpenError;

use async_trait::async_trait;
use bytes::Bytes;
use committer::{Progress, Shared};
use coord::store::{Request, Store, StoreError, Value};
use disk::Disk;
use engine::Engine;
use futures::stream::BoxStream;
use keyspace::Keyspace;
use layers::Layers;
use lua::Interpreter;
use parking_lot::{Condvar, Mutex, MutexGuard};
use pubsub::Channels;
use redb::backends::InMemoryBackend;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// How long a request may wait for its turn, and how long for the disk.
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

struct Open {
    path: Option<PathBuf>,
    engine: Arc<Mutex<Engine>>,
    shared: Arc<Shared>,
    is_closing: Arc<AtomicBool>,
    committer: Mutex<Option<JoinHandle<()>>>,
    scripts: AtomicU64,
    commands: AtomicU64,
}

impl EmbeddedStore {
    /// Opens the store in the file at `path`, or makes a new one. Its folder must be there. After a crash the file is
    /// checked and repaired first, in time that grows with its size.
    ///
    /// # Errors
    /// When the file is in use, is not a store, is damaged, or cannot be read and written.
    pub fn open(path: &Path) -> Result<EmbeddedStore, OpenError> {
        Self::over(Disk::open(path)?, Some(path.to_owned()))
    }

    /// A store without a file, which is gone when it is dropped.
    ///
    /// # Errors
    /// When the interpreter or the thread cannot be started.
    pub fn in_memory() -> Result<EmbeddedStore, OpenError> {
        Self::over(Disk::over(InMemoryBackend::new())?, None)
    }

    fn over(disk: Disk, path: Option<PathBuf>) -> Result<EmbeddedStore, OpenError> {
        let snapshot = disk.snapshot().map_err(OpenError::Start)?;
        let channels = Arc::new(Channels::default());
        let keyspace = Arc::new(Mutex::new(Keyspace::new(Layers::new(snapshot), channels.clone())));
        let interpreter = Interpreter::new(keyspace.clone())?;
        let engine = Arc::new(Mutex::new(Engine::new(interpreter, keyspace.clone())));
        let shared = Arc::new(Shared {
            keyspace,
            channels,
            bell: Condvar::new(),
            progress: watch::Sender::new(Progress::default()),
            commits: AtomicU64::new(0),
        });
        let is_closing = Arc::new(AtomicBool::new(false));
        let committer = {
            let (shared, engine, is_closing) = (shared.clone(), engine.clone(), is_closing.clone());
            std::thread::Builder::new()
                .name("coord-commit".to_owned())
                .spawn(move || {
                    committer::run(&disk, &shared, &engine, &|| is_closing.load(Ordering::Acquire));
                })
        };
        let committer = committer.map_err(|error| OpenError::Start(error.to_string()))?;
        Ok(EmbeddedStore {
            open: Arc::new(Open {
                path,
                engine,
                shared,
                is_closing,
                committer: Mutex::new(Some(committer)),
                scripts: AtomicU64::new(0),
                commands: AtomicU64::new(0),
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
            scripts: self.open.scripts.load(Ordering::Relaxed),
            commands: self.open.commands.load(Ordering::Relaxed),
            commits: self.open.shared.commits.load(Ordering::Relaxed),
        }
    }
}

/// What the requests of one batch were answered, and the newest change that they made or saw.
#[derive(Default)]
struct Answers {
    values: Vec<Value>,
    depends_on: u64,
}

impl Open {
    /// The right to run requests: one batch or request at a time.
    fn turn(&self) -> Result<MutexGuard<'_, Engine>, StoreError> {
        let engine = self
            .engine
            .try_lock_for(TIME_LIMIT)
            .ok_or(StoreError::Timeout(TIME_LIMIT))?;
        if self.is_closing.load(Ordering::Acquire) {
            return Err(StoreError::Unreachable("the embedded store is closed".to_owned()));
        }
        Ok(engine)
    }

    fn answer(&self, engine: &mut Engine, request: &Request, answers: &mut Answers) -> Result<(), StoreError> {
        // What the requests before this one changed is committed, also when nobody waits for it.
        let answer = engine.run(request).inspect_err(|_| self.ring())?;
        let counter = if answer.is_script {
            &self.scripts
        } else {
            &self.commands
        };
        counter.fetch_add(1, Ordering::Relaxed);
        answers.depends_on = answers.depends_on.max(answer.depends_on);
        answers.values.push(answer.value);
        Ok(())
    }

    /// The answers, when all that they depend on is durable.
    async fn when_durable(&self, answers: Answers) -> Result<Vec<Value>, StoreError> {
        if answers.depends_on > 0 {
            self.ring();
            self.durable(answers.depends_on).await?;
        }
        Ok(answers.values)
    }

    /// Wakes the committer.
    fn ring(&self) {
        self.shared.bell.notify_one();
    }

    /// Waits until `batch` is durable.
    async fn durable(&self, batch: u64) -> Result<(), StoreError> {
        let mut progress = self.shared.progress.subscribe();
        let arrived = progress.wait_for(|progress| progress.durable >= batch || progress.failure.is_some());
        match tokio::time::timeout(TIME_LIMIT, arrived).await {
            Ok(Ok(progress)) if progress.durable >= batch => Ok(()),
            Ok(Ok(progress)) => {
                let reason = progress.failure.clone().unwrap_or_default();
                Err(StoreError::Failed(format!("the disk failed: {reason}")))
            }
            Ok(Err(_)) => Err(StoreError::Unreachable("the embedded store is closed".to_owned())),
            Err(_) => Err(StoreError::Timeout(TIME_LIMIT)),
        }
    }

    fn close(&self) {
        {
            // In a turn of our own: a request either ends before, and is committed, or sees the flag. With the lock held,
            // the committer either waits for the bell or looks at the flag before it waits.
            let _turn = self.engine.lock();
            self.is_closing.store(true, Ordering::Release);
            let _keyspace = self.shared.keyspace.lock();
            self.shared.bell.notify_all();
        }
        if let Some(committer) = self.committer.lock().take()
            && committer.join().is_err()
        {
            tracing::error!("the committing thread of the embedded store panicked");
        }
        self.shared.channels.close();
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.close();
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        let mut answers = Answers::default();
        for request in &batch {
            self.open.answer(&mut *self.open.turn()?, request, &mut answers)?;
        }
        self.open.when_durable(answers).await
    }

    /// Nothing comes between the requests. A crash may keep the first of them alone; no answer is given then.
    async fn run_atomically(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        let mut answers = Answers::default();
        {
            let mut engine = self.open.turn()?;
            for request in &batch {
                self.open.answer(&mut engine, request, &mut answers)?;
            }
        }
        self.open.when_durable(answers).await
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        if self.open.is_closing.load(Ordering::Acquire) {
            return Err(StoreError::Unreachable("the embedded store is closed".to_owned()));
        }
        Ok(self.open.shared.channels.subscribe(channel.as_bytes()))
    }

    fn describe(&self) -> String {
        match &self.open.path {
            Some(path) => format!("embedded store at {}", path.display()),
            None => "embedded store in memory".to_owned(),
        }
    }
}

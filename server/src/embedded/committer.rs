//! The thread that writes to the disk. While it writes one batch, the next one gathers: however many scripts end
//! meanwhile, they share one commit.

use super::disk::Disk;
use super::engine::Engine;
use super::keyspace::Keyspace;
use super::pubsub::Channels;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often what has expired is cleared away.
const CLEAN_EVERY: Duration = Duration::from_secs(1);
/// How many records one cleaning may touch: few enough that no script waits long for it.
const CLEAN_RECORDS: u64 = 1000;

/// How far the disk is.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// All batches up to this one are durable.
    pub durable: u64,
    /// Why no further one will be.
    pub failure: Option<String>,
}

/// What the committer shares with the scripts.
pub(super) struct Shared {
    pub keyspace: Arc<Mutex<Keyspace>>,
    pub channels: Arc<Channels>,
    /// Rung when there is something to commit, or an end.
    pub bell: Condvar,
    pub progress: watch::Sender<Progress>,
    pub commits: AtomicU64,
}

/// Commits until `is_closing` says so and nothing is left. Runs on a thread of its own.
pub(super) fn run(disk: &Disk, shared: &Shared, engine: &Mutex<Engine>, is_closing: &dyn Fn() -> bool) {
    let mut clean_at = Instant::now() + CLEAN_EVERY;
    loop {
        let batch = {
            let mut keyspace = shared.keyspace.lock();
            while !keyspace.layers.is_awaited() {
                if is_closing() {
                    return;
                }
                if shared.bell.wait_until(&mut keyspace, clean_at).timed_out() {
                    break;
                }
            }
            keyspace.layers.has_gathered().then(|| keyspace.layers.start_commit())
        };
        if let Some(batch) = batch {
            let committed = match batch.changes.is_empty() {
                true => Ok(None),
                false => disk.commit(&batch.changes).and_then(|()| disk.snapshot()).map(Some),
            };
            match committed {
                Ok(snapshot) => {
                    shared
                        .commits
                        .fetch_add(u64::from(snapshot.is_some()), Ordering::Relaxed);
                    shared.keyspace.lock().layers.finish_commit(snapshot);
                    for message in &batch.messages {
                        shared.channels.deliver(message);
                    }
                    shared.progress.send_modify(|progress| progress.durable = batch.number);
                }
                Err(reason) => {
                    tracing::error!(%reason, "the disk of the embedded store failed; nothing can be changed any more");
                    shared.keyspace.lock().layers.fail(reason.clone());
                    shared.progress.send_modify(|progress| progress.failure = Some(reason));
                }
            }
        }
        if Instant::now() >= clean_at {
            let is_more = clean(shared, engine);
            clean_at = Instant::now()
                + if is_more {
                    Duration::from_millis(20)
                } else {
                    CLEAN_EVERY
                };
        }
    }
}

/// One step of cleaning, between scripts. Whether there is more to do.
fn clean(shared: &Shared, engine: &Mutex<Engine>) -> bool {
    // A script that is running sees the state of one instant: nothing may vanish under it. It also may be long.
    let Some(_turn) = engine.try_lock() else { return true };
    let mut keyspace = shared.keyspace.lock();
    if keyspace.layers.failure().is_some() {
        return false;
    }
    keyspace.begin(false, false);
    match keyspace.clean(CLEAN_RECORDS) {
        Ok(is_more) => {
            keyspace.layers.commit();
            is_more
        }
        Err(failure) => {
            tracing::warn!(?failure, "expired keys could not be cleared away");
            keyspace.layers.rollback();
            false
        }
    }
}

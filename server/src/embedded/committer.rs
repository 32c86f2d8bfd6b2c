//! The thread that writes to the disk. While it writes one batch, the next one gathers: however many scripts end
//! meanwhile, they share one commit.

use super::disk::Disk;
use super::keyspace::Keyspace;
use super::progress::Progress;
use super::pubsub::Channels;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long what nobody waits for may wait.
const UNAWAITED_TIME: Duration = Duration::from_secs(1);

/// What the committer shares with the engine.
pub(super) struct Shared {
    pub keyspace: Arc<Mutex<Keyspace>>,
    pub channels: Arc<Channels>,
    /// Rung when there is something to commit, or an end.
    pub bell: Condvar,
    pub progress: Progress,
    /// Scripts run, failed ones too.
    pub scripts: AtomicU64,
    /// Plain commands run.
    pub commands: AtomicU64,
    pub commits: AtomicU64,
}

/// Commits until `is_closing` says so and nothing is left. Runs on a thread of its own.
pub(super) fn run(disk: &Disk, shared: &Shared, is_closing: &dyn Fn() -> bool) {
    loop {
        let until = Instant::now() + UNAWAITED_TIME;
        let batch = {
            let mut keyspace = shared.keyspace.lock();
            while !keyspace.layers.is_awaited() {
                if is_closing() {
                    return;
                }
                if shared.bell.wait_until(&mut keyspace, until).timed_out() {
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
                    shared.progress.advance(batch.number);
                }
                Err(reason) => {
                    tracing::error!(%reason, "the disk of the embedded store failed; nothing can be changed any more");
                    shared.keyspace.lock().layers.fail(reason.clone());
                    shared.progress.fail(reason);
                }
            }
        }
    }
}

//! The thread that writes to the disk. While it writes one batch, the next one gathers: however many scripts end
//! meanwhile, they share one commit.
//!
//! **When the disk fails**, whoever waits for the batch, or for the one that gathered meanwhile, is told so, and both are dropped:
//! nobody knows how much of them is on the medium. The file is opened anew, as after a crash, and scripts go on with what it
//! holds. The next change is tried again, after a pause at the earliest.

use super::disk::Disk;
use super::keyspace::Keyspace;
use super::layers::Batch;
use super::progress::Progress;
use super::pubsub::Channels;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long what nobody waits for may wait.
const UNAWAITED_TIME: Duration = Duration::from_secs(1);
/// The pause after a failure, and how many times as long as what reading the disk again took: no store spends its time on that.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_FACTOR: u32 = 4;
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
pub(super) fn run(disk: &mut Disk, shared: &Shared, is_closing: &dyn Fn() -> bool) {
    let mut paused_until = Instant::now();
    loop {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            commit_until_closed(disk, shared, is_closing, &mut paused_until);
        }));
        match ended {
            Ok(()) => break,
            // Whatever was under way is lost, and said to be; there is nobody else to go on.
            Err(_) => fail(
                disk,
                shared,
                &mut paused_until,
                "the committing thread panicked".to_owned(),
            ),
        }
    }
    disk.close();
}

fn commit_until_closed(disk: &mut Disk, shared: &Shared, is_closing: &dyn Fn() -> bool, paused_until: &mut Instant) {
    loop {
        let until = Instant::now() + UNAWAITED_TIME;
        let batch = {
            let mut keyspace = shared.keyspace.lock();
            loop {
                // What is left at the end is tried once, whatever happened before.
                let wake_at = match (keyspace.layers.is_awaited(), is_closing()) {
                    (false, true) => return,
                    (true, true) => break,
                    (true, false) => *paused_until,
                    (false, false) if keyspace.layers.is_unreadable() => *paused_until,
                    (false, false) => until.max(*paused_until),
                };
                if Instant::now() >= wake_at {
                    break;
                }
                shared.bell.wait_until(&mut keyspace, wake_at);
            }
            let has_gathered = keyspace.layers.has_gathered();
            if keyspace.layers.is_unreadable() || (has_gathered && !disk.is_open()) {
                // Everybody waits meanwhile: what they have of the old file cannot be read any more.
                *paused_until = recover(disk, &mut keyspace);
            }
            has_gathered.then(|| keyspace.layers.start_commit())
        };
        if let Some(batch) = batch {
            commit(disk, shared, paused_until, &batch);
        }
    }
}

fn commit(disk: &mut Disk, shared: &Shared, paused_until: &mut Instant, batch: &Batch) {
    let committed = match batch.changes.is_empty() {
        true => Ok(None),
        false => disk.commit(&batch.changes).map(Some),
    };
    match committed {
        Ok(snapshot) => {
            if snapshot.is_some() {
                shared.commits.fetch_add(1, Ordering::Relaxed);
            }
            let was_failing = {
                let mut keyspace = shared.keyspace.lock();
                let was_failing = keyspace.layers.is_failing();
                keyspace.layers.finish_commit(snapshot);
                was_failing && !keyspace.layers.is_failing()
            };
            if was_failing {
                tracing::warn!("the disk of the embedded store can be written again");
            }
            for message in &batch.messages {
                shared.channels.deliver(message);
            }
            shared.progress.advance(batch.number);
        }
        Err(reason) => fail(disk, shared, paused_until, reason),
    }
}

/// Drops what could not be written, tells those who wait for it, and goes back to what the disk holds.
fn fail(disk: &mut Disk, shared: &Shared, paused_until: &mut Instant, reason: String) {
    let mut keyspace = shared.keyspace.lock();
    // Once for a row of failures.
    if !keyspace.layers.is_failing() {
        tracing::error!(%reason, "the disk of the embedded store failed; the next change is tried again");
    }
    let last = keyspace.layers.fail(reason.clone());
    if disk.is_open() {
        *paused_until = recover(disk, &mut keyspace);
    } else {
        // It has just been tried.
        keyspace.layers.reread(disk.snapshot().ok());
    }
    drop(keyspace);
    shared.progress.lose(last, reason);
}

/// Reads the disk again from the start, while everybody waits. Gives the instant at which the next attempt is due.
fn recover(disk: &mut Disk, keyspace: &mut Keyspace) -> Instant {
    let began = Instant::now();
    keyspace.layers.reread(disk.recover().ok());
    Instant::now() + PAUSE.max(began.elapsed() * PAUSE_FACTOR)
}

//! The thread that writes to the disk. While it writes one batch, the next one gathers, so that all scripts that end
//! meanwhile share one commit.
//!
//! **When the disk fails**, calls that wait for the batch, or for the one gathered meanwhile, fail. Both batches are
//! dropped, because it is unknown which part of them is on the medium. The file is opened anew, as after a crash, and
//! scripts continue with its content. After a pause, the next change is tried again.

use super::disk::Disk;
use super::keyspace::Keyspace;
use super::layers::Batch;
use super::progress::{Answer, Progress};
use super::pubsub::Channels;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Longest time until a change that no call waits for is written.
const UNAWAITED_TIME: Duration = Duration::from_secs(1);
/// Shortest pause after a failure.
const PAUSE: Duration = Duration::from_millis(50);
/// The pause is at least this many times as long as opening the disk took, so that retries do not use all the time.
const PAUSE_FACTOR: u32 = 4;

/// State shared by the committer and the engine.
pub(super) struct CommitState {
    pub keyspace: Arc<Mutex<Keyspace>>,
    pub channels: Arc<Channels>,
    /// Notified when there is something to commit, and when the store closes.
    pub wakeup: Condvar,
    pub progress: Progress,
    /// Scripts that were run, failed ones included.
    pub scripts: AtomicU64,
    /// Plain commands that were run.
    pub commands: AtomicU64,
    pub commits: AtomicU64,
}

/// Commits until `is_closing` is true and nothing is left. Runs on a separate thread.
pub(super) fn run(disk: &mut Disk, shared: &CommitState, is_closing: &dyn Fn() -> bool) {
    let mut paused_until = Instant::now();
    loop {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            commit_until_closed(disk, shared, is_closing, &mut paused_until);
        }));
        match ended {
            Ok(()) => break,
            // The current batch is lost and its calls fail. This thread goes on, because no other commits.
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

fn commit_until_closed(
    disk: &mut Disk,
    shared: &CommitState,
    is_closing: &dyn Fn() -> bool,
    paused_until: &mut Instant,
) {
    loop {
        let until = Instant::now() + UNAWAITED_TIME;
        let batch = {
            let mut keyspace = shared.keyspace.lock();
            loop {
                // When the store closes, the rest is tried once, whatever happened before.
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
                shared.wakeup.wait_until(&mut keyspace, wake_at);
            }
            let has_gathered = keyspace.layers.has_gathered();
            if keyspace.layers.is_unreadable() || (has_gathered && !disk.is_open()) {
                // All calls wait meanwhile: values read from the old file are no longer readable.
                *paused_until = recover(disk, &mut keyspace);
            }
            has_gathered.then(|| keyspace.layers.start_commit())
        };
        if let Some(batch) = batch {
            commit(disk, shared, paused_until, &batch);
        }
    }
}

fn commit(disk: &mut Disk, shared: &CommitState, paused_until: &mut Instant, batch: &Batch) {
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

/// Drops the changes that could not be written, fails the calls that wait for them, and reads the disk again.
fn fail(disk: &mut Disk, shared: &CommitState, paused_until: &mut Instant, reason: String) {
    let mut keyspace = shared.keyspace.lock();
    // Failures in a row are logged once.
    if !keyspace.layers.is_failing() {
        tracing::error!(%reason, "the disk of the embedded store failed; the next change is tried again");
    }
    let last = keyspace.layers.fail(reason.clone());
    if disk.is_open() {
        *paused_until = recover(disk, &mut keyspace);
    } else {
        // The disk has just been opened again.
        keyspace.layers.replace_snapshot(disk.snapshot().ok());
    }
    drop(keyspace);
    shared.progress.lose(last, reason);
}

/// Opens the disk again, while all calls wait. Returns the time of the next attempt.
fn recover(disk: &mut Disk, keyspace: &mut Keyspace) -> Instant {
    let started_at = Instant::now();
    keyspace.layers.replace_snapshot(disk.recover().ok());
    Instant::now() + PAUSE.max(started_at.elapsed() * PAUSE_FACTOR)
}

/// Sends the responses, each as soon as its batches are durable.
pub(super) fn deliver(shared: &CommitState, answers: &mut Vec<Answer>) {
    if answers.is_empty() {
        return;
    }
    // Changes that a call made before it failed are committed, even when no call waits for them.
    let has_failure = answers.iter().any(|answer| answer.outcome.is_err());
    if shared.progress.settle(answers) || has_failure {
        shared.wakeup.notify_one();
    }
}

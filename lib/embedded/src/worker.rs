//! The thread that runs requests. It takes calls from a [`Queue`] in rounds, and sends the responses of a round
//! together. No thread that serves HTTP runs a script or waits for one.

use super::committer::{CommitState, deliver};
use super::engine::Engine;
use super::progress::Answer;
use super::queue::{Job, Queue, RoundOutcome, SLICE};
use coord_store::{Request, StoreError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Stack size of the thread. Lua nests at most 200 C calls, each of which may have buffers of 8 KiB and more.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// Interval between two cleanings of expired names.
const CLEAN_EVERY: Duration = Duration::from_secs(1);
/// Pause before the next step of a cleaning that is not finished.
const CLEAN_MORE_AFTER: Duration = Duration::from_millis(20);
/// Maximum number of records that one cleaning step removes, so that no script waits long for it.
const CLEAN_RECORDS: u64 = 1000;

/// Runs calls until the queue is closed and empty.
pub(super) fn run(mut engine: Engine, queue: &Queue, shared: &CommitState) {
    let mut clean_at = Instant::now() + CLEAN_EVERY;
    let mut round: Vec<Job> = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    loop {
        match queue.take_round(&mut round, clean_at) {
            RoundOutcome::Ready => {
                for job in round.drain(..) {
                    answers.extend(run_job(&mut engine, job, queue, shared));
                }
                deliver(shared, &mut answers);
            }
            RoundOutcome::TimedOut => {}
            RoundOutcome::Closed => return,
        }
        if Instant::now() >= clean_at {
            let is_more = clean(shared);
            clean_at = Instant::now() + if is_more { CLEAN_MORE_AFTER } else { CLEAN_EVERY };
        }
    }
}

/// Runs a call for as long as its slice lasts; the rest goes back to the queue.
fn run_job(engine: &mut Engine, mut job: Job, queue: &Queue, shared: &CommitState) -> Option<Answer> {
    let started_at = (job.requests.len() > 1).then(Instant::now);
    while let Some(request) = job.requests.pop_front() {
        if job.is_abandoned() {
            return None;
        }
        if let Err(error) = run_request(engine, &mut job, &request, shared) {
            return Some(job.into_failure(error));
        }
        if !job.requests.is_empty() && started_at.is_some_and(|started_at| started_at.elapsed() > SLICE) {
            queue.requeue(job);
            return None;
        }
    }
    Some(job.into_answer())
}

/// Runs one request of `job`. A panic fails this call, and no later one.
fn run_request(engine: &mut Engine, job: &mut Job, request: &Request, shared: &CommitState) -> Result<(), StoreError> {
    let result = catch_unwind(AssertUnwindSafe(|| engine.run(request))).unwrap_or_else(|_| {
        tracing::error!("a request to the embedded store panicked");
        shared.keyspace.lock().layers.rollback();
        Err(StoreError::Failed("ERR the store failed at this request".to_owned()))
    })?;
    let counter = if result.is_script {
        &shared.scripts
    } else {
        &shared.commands
    };
    counter.fetch_add(1, Ordering::Relaxed);
    job.depend_on(result.depends_on);
    job.push(result.value);
    Ok(())
}

/// Runs one cleaning step between scripts. Returns whether there is more to clean.
fn clean(shared: &CommitState) -> bool {
    let mut keyspace = shared.keyspace.lock();
    if keyspace.layers.is_failing() || keyspace.layers.is_unreadable() {
        return false;
    }
    keyspace.begin(false);
    match keyspace.clean(CLEAN_RECORDS) {
        Ok(is_more) => {
            keyspace.layers.commit();
            is_more
        }
        Err(failure) => {
            tracing::warn!(?failure, "expired keys could not be removed");
            keyspace.layers.rollback();
            false
        }
    }
}

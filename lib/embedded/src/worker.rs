//! The thread that runs requests. Calls come from a [`Queue`] and run in rounds; the responses of a round are sent together.
//! No thread that serves HTTP runs a script or waits for one.

use super::committer::{CommitState, deliver};
use super::engine::Engine;
use super::progress::Answer;
use super::queue::{Job, Next, Queue, SLICE};
use coord_store::{Request, StoreError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Stack size of the thread. Lua nests at most 200 C calls, each of which may have buffers of 8 KiB and more.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// Interval of cleaning expired names.
const CLEAN_EVERY: Duration = Duration::from_secs(1);
/// Pause before cleaning goes on if there is more.
const CLEAN_MORE_AFTER: Duration = Duration::from_millis(20);
/// Most records of one cleaning step, so that no script waits long for it.
const CLEAN_RECORDS: u64 = 1000;

/// Runs calls until the queue is closed and empty.
pub(super) fn run(mut engine: Engine, queue: &Queue, shared: &CommitState) {
    let mut clean_at = Instant::now() + CLEAN_EVERY;
    let mut round: Vec<Job> = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    loop {
        match queue.take(&mut round, clean_at) {
            Next::Round => {
                for job in round.drain(..) {
                    answers.extend(work(&mut engine, job, queue, shared));
                }
                deliver(shared, &mut answers);
            }
            Next::Nothing => {}
            Next::Closed => return,
        }
        if Instant::now() >= clean_at {
            let is_more = clean(shared);
            clean_at = Instant::now() + if is_more { CLEAN_MORE_AFTER } else { CLEAN_EVERY };
        }
    }
}

/// Runs a call for as long as its slice lasts; the rest goes back to the queue.
fn work(engine: &mut Engine, mut job: Job, queue: &Queue, shared: &CommitState) -> Option<Answer> {
    let begun = (job.requests.len() > 1).then(Instant::now);
    while let Some(request) = job.requests.pop_front() {
        if job.is_abandoned() {
            return None;
        }
        if let Err(error) = run_one(engine, &mut job, &request, shared) {
            return Some(job.failed(error));
        }
        if !job.requests.is_empty() && begun.is_some_and(|begun| begun.elapsed() > SLICE) {
            queue.put_back(job);
            return None;
        }
    }
    Some(job.answered())
}

/// Runs one request of `job`. A panic fails this call, and no later one.
fn run_one(engine: &mut Engine, job: &mut Job, request: &Request, shared: &CommitState) -> Result<(), StoreError> {
    let answer = catch_unwind(AssertUnwindSafe(|| engine.run(request))).unwrap_or_else(|_| {
        tracing::error!("a request to the embedded store panicked");
        shared.keyspace.lock().layers.rollback();
        Err(StoreError::Failed("ERR the store failed at this request".to_owned()))
    })?;
    let counter = if answer.is_script {
        &shared.scripts
    } else {
        &shared.commands
    };
    counter.fetch_add(1, Ordering::Relaxed);
    job.depend_on(answer.depends_on);
    job.push(answer.value);
    Ok(())
}

/// Runs one step of cleaning between scripts. Returns whether there is more.
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
            tracing::warn!(?failure, "expired keys could not be cleared away");
            keyspace.layers.rollback();
            false
        }
    }
}

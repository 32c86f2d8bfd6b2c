//! The thread that runs requests: calls come from a [`Queue`], are run in rounds, and the answers of a round go out
//! together. No thread that serves HTTP ever runs a script or waits for one.

use super::committer::Shared;
use super::engine::Engine;
use super::progress::Answer;
use super::queue::{Job, Next, Queue};
use coord::store::{Request, StoreError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The stack of the thread. Lua calls at most 200 levels of C, of which each may have buffers of 8 KiB and more.
pub(super) const STACK_BYTES: usize = 16 << 20;

/// How often what has expired is cleared away.
const CLEAN_EVERY: Duration = Duration::from_secs(1);
/// How soon it goes on if there is more.
const CLEAN_MORE_AFTER: Duration = Duration::from_millis(20);
/// How many records one cleaning may touch: few enough that no script waits long for it.
const CLEAN_RECORDS: u64 = 1000;

/// How long one call may go on before the next has its turn; the rest of its requests, which others may come between, waits.
const SLICE: Duration = Duration::from_millis(2);

/// Runs calls until the queue is closed and empty.
pub(super) fn run(mut engine: Engine, queue: &Queue, shared: &Shared) {
    let mut clean_at = Instant::now() + CLEAN_EVERY;
    let mut round: Vec<Job> = Vec::new();
    let mut answers: Vec<Answer> = Vec::new();
    loop {
        match queue.take(&mut round, clean_at) {
            Next::Round => {
                for job in round.drain(..) {
                    if job.is_foreign {
                        // It may take long, which what has been answered is not to wait for.
                        give(shared, &mut answers);
                    }
                    answers.extend(work(&mut engine, job, queue, shared));
                }
                give(shared, &mut answers);
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

/// Gives the answers, each as soon as it is durable.
fn give(shared: &Shared, answers: &mut Vec<Answer>) {
    if answers.is_empty() {
        return;
    }
    // What a call changed before it failed is committed, also when nobody waits for it.
    let is_failed = answers.iter().any(|answer| answer.outcome.is_err());
    if shared.progress.settle(answers) || is_failed {
        shared.bell.notify_one();
    }
}

/// Runs a call, or as much of it as it has time for; then the rest goes back to the queue.
fn work(engine: &mut Engine, mut job: Job, queue: &Queue, shared: &Shared) -> Option<Answer> {
    if job.is_abandoned() {
        return None;
    }
    let may_pause = !job.is_atomic && job.requests.len() > 1;
    let begun = may_pause.then(Instant::now);
    while let Some(request) = job.requests.pop_front() {
        let answer = match run_caught(engine, &request, shared) {
            Ok(answer) => answer,
            Err(error) => return Some(job.failed(error)),
        };
        let counter = if answer.is_script {
            &shared.scripts
        } else {
            &shared.commands
        };
        counter.fetch_add(1, Ordering::Relaxed);
        job.depend_on(answer.depends_on);
        job.values.push(answer.value);
        if !job.requests.is_empty() && begun.is_some_and(|begun| begun.elapsed() > SLICE) {
            queue.put_back(job);
            return None;
        }
    }
    Some(job.answered())
}

/// A panic is this call's failure, and not that of those who ask later.
fn run_caught(engine: &mut Engine, request: &Request, shared: &Shared) -> Result<super::engine::Answer, StoreError> {
    catch_unwind(AssertUnwindSafe(|| engine.run(request))).unwrap_or_else(|_| {
        tracing::error!("a request to the embedded store panicked");
        shared.keyspace.lock().layers.rollback();
        Err(StoreError::Failed("ERR the store failed at this request".to_owned()))
    })
}

/// One step of cleaning, between scripts. Whether there is more to do.
fn clean(shared: &Shared) -> bool {
    let mut keyspace = shared.keyspace.lock();
    if keyspace.layers.is_failing() || keyspace.layers.is_unreadable() {
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

//! Requests on their way to the engine.
//!
//! There are two lanes: reads, and all other calls. A round takes reads first.
//! Reads that arrive while a script runs are answered between its commands ([`super::deferred_reads`]).

use super::commands;
use super::progress::{Answer, ReplySender};
use coord_store::{Request, StoreError, Value};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longest time that a call may run at a stretch. After it, the rest of the call waits and other calls may run.
pub(super) const SLICE: Duration = Duration::from_millis(2);

/// Number of calls whose responses are sent together, because each send may wake a thread.
const ROUND: usize = 16;

/// One call of the store.
pub(super) struct Job {
    pub requests: VecDeque<Request>,
    /// Whether all of its requests are commands that change nothing. Other calls may run between them.
    is_read: bool,
    /// The results of the requests so far.
    values: Vec<Value>,
    /// The newest batch that the call changed or read.
    depends_on: u64,
    /// The oldest such batch.
    since: u64,
    reply: ReplySender,
}

impl Job {
    pub fn new(requests: Vec<Request>, reply: ReplySender) -> Self {
        Job {
            values: Vec::with_capacity(requests.len()),
            is_read: requests.iter().all(is_read),
            requests: requests.into(),
            depends_on: 0,
            since: 0,
            reply,
        }
    }

    /// Records that a request depends on the batch `depends_on`.
    pub fn depend_on(&mut self, depends_on: u64) {
        self.depends_on = self.depends_on.max(depends_on);
        if self.since == 0 {
            self.since = depends_on;
        }
    }

    /// Adds the result of a request.
    pub fn push(&mut self, value: Value) {
        self.values.push(value);
    }

    /// Whether the caller has given up.
    pub fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    /// The result, to be sent when all batches that it depends on are durable.
    pub fn into_answer(self) -> Answer {
        Answer {
            outcome: Ok(self.values),
            depends_on: self.depends_on,
            since: self.since,
            reply: self.reply,
        }
    }

    /// The result of a failed call.
    pub fn into_failure(self, error: StoreError) -> Answer {
        Answer {
            outcome: Err(error),
            depends_on: 0,
            since: 0,
            reply: self.reply,
        }
    }
}

fn is_read(request: &Request) -> bool {
    match request {
        Request::Command(words) => words.first().is_some_and(|name| commands::is_read(name)),
        Request::Script { .. } => false,
    }
}

/// The outcome of [`Queue::take_round`].
pub(super) enum RoundOutcome {
    /// The round has the first calls of the queue.
    Ready,
    /// No call arrived in time.
    TimedOut,
    /// The queue is closed and empty.
    Closed,
}

/// The calls that wait for the engine, in order of arrival.
#[derive(Default)]
pub(super) struct Queue {
    lanes: Mutex<Lanes>,
    /// Notified when a call arrives, and when the queue is closed.
    wakeup: Condvar,
    has_reads: AtomicBool,
}

#[derive(Default)]
struct Lanes {
    reads: VecDeque<Job>,
    scripts_and_writes: VecDeque<Job>,
    is_closed: bool,
}

impl Queue {
    /// Adds a call. Returns false if the store is closed.
    pub fn push(&self, job: Job) -> bool {
        let mut lanes = self.lanes.lock();
        if lanes.is_closed {
            return false;
        }
        self.add(&mut lanes, job);
        drop(lanes);
        self.wakeup.notify_one();
        true
    }

    fn add(&self, lanes: &mut Lanes, job: Job) {
        if job.is_read {
            self.has_reads.store(true, Ordering::Relaxed);
            lanes.reads.push_back(job);
        } else {
            lanes.scripts_and_writes.push_back(job);
        }
    }

    /// Whether there are reads.
    pub fn has_reads(&self) -> bool {
        self.has_reads.load(Ordering::Relaxed)
    }

    /// Moves the next reads to `round`.
    pub fn take_reads(&self, round: &mut Vec<Job>) {
        self.move_reads(&mut self.lanes.lock(), round);
    }

    fn move_reads(&self, lanes: &mut Lanes, round: &mut Vec<Job>) {
        let count = lanes.reads.len().min(ROUND);
        round.extend(lanes.reads.drain(..count));
        self.has_reads.store(!lanes.reads.is_empty(), Ordering::Relaxed);
    }

    /// Moves the next calls to `round`, which is empty. Waits for a call until `until`.
    pub fn take_round(&self, round: &mut Vec<Job>, until: Instant) -> RoundOutcome {
        let mut lanes = self.lanes.lock();
        loop {
            self.move_reads(&mut lanes, round);
            let count = lanes.scripts_and_writes.len().min(ROUND);
            round.extend(lanes.scripts_and_writes.drain(..count));
            if !round.is_empty() {
                return RoundOutcome::Ready;
            }
            if lanes.is_closed {
                return RoundOutcome::Closed;
            }
            if self.wakeup.wait_until(&mut lanes, until).timed_out() {
                return RoundOutcome::TimedOut;
            }
        }
    }

    /// Adds the rest of a call that has run in part.
    pub fn requeue(&self, job: Job) {
        self.add(&mut self.lanes.lock(), job);
    }

    /// Accepts no more calls. Waiting calls still run.
    pub fn close(&self) {
        self.lanes.lock().is_closed = true;
        self.wakeup.notify_one();
    }

    /// Whether the queue accepts no more calls.
    pub fn is_closed(&self) -> bool {
        self.lanes.lock().is_closed
    }
}

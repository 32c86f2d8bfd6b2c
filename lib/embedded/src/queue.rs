//! Requests on their way to the engine.
//!
//! There are two lanes: scripts that clients of the store's port bring (EVAL, EVALSHA), and everything else. The engine runs
//! one of the former after each round of the latter, so that foreign scripts, however many, hold up others by one at a time.

use super::progress::{Answer, Reply};
use coord::store::{Request, StoreError, Value};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::time::Instant;

/// How many calls are run before their answers are given, all together: each gift may wake a thread.
const ROUND: usize = 16;

/// One call of the store.
pub(super) struct Job {
    pub requests: VecDeque<Request>,
    /// Nothing of others comes between the requests.
    pub is_atomic: bool,
    /// It brings a script of its own.
    pub is_foreign: bool,
    /// What the first requests were answered.
    pub values: Vec<Value>,
    /// The newest change that they made or saw.
    pub depends_on: u64,
    /// The oldest.
    pub since: u64,
    reply: Reply,
}

impl Job {
    pub fn new(requests: Vec<Request>, is_atomic: bool, reply: Reply) -> Self {
        Job {
            values: Vec::with_capacity(requests.len()),
            is_foreign: requests.iter().any(is_foreign),
            requests: requests.into(),
            is_atomic,
            depends_on: 0,
            since: 0,
            reply,
        }
    }

    /// The next request was answered, by what is in the batch `depends_on`.
    pub fn depend_on(&mut self, depends_on: u64) {
        self.depends_on = self.depends_on.max(depends_on);
        if self.since == 0 {
            self.since = depends_on;
        }
    }

    /// Whether the caller has given up.
    pub fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    /// The answer, to be given when all that it depends on is durable.
    pub fn answered(self) -> Answer {
        Answer {
            outcome: Ok(self.values),
            depends_on: self.depends_on,
            since: self.since,
            reply: self.reply,
        }
    }

    /// Why there is none.
    pub fn failed(self, error: StoreError) -> Answer {
        Answer {
            outcome: Err(error),
            depends_on: 0,
            since: 0,
            reply: self.reply,
        }
    }
}

fn is_foreign(request: &Request) -> bool {
    match request {
        Request::Command(words) => words.first().is_some_and(|name| {
            [&b"EVAL"[..], b"EVALSHA"]
                .iter()
                .any(|eval| name.eq_ignore_ascii_case(eval))
        }),
        Request::Script { .. } => false,
    }
}

/// What the engine is to do next.
pub(super) enum Next {
    /// These calls, the first of the queue.
    Round,
    /// Its own work: nobody asked until the given instant.
    Nothing,
    /// Nobody will ask any more.
    Closed,
}

/// The calls that wait for the engine, in the order in which they came.
#[derive(Default)]
pub(super) struct Queue {
    lanes: Mutex<Lanes>,
    /// Rung when there is a call, or an end.
    bell: Condvar,
}

#[derive(Default)]
struct Lanes {
    own: VecDeque<Job>,
    foreign: VecDeque<Job>,
    is_closed: bool,
}

impl Lanes {
    fn lane(&mut self, job: &Job) -> &mut VecDeque<Job> {
        if job.is_foreign {
            &mut self.foreign
        } else {
            &mut self.own
        }
    }
}

impl Queue {
    /// Adds a call. False if the store is closed.
    pub fn push(&self, job: Job) -> bool {
        let mut lanes = self.lanes.lock();
        if lanes.is_closed {
            return false;
        }
        lanes.lane(&job).push_back(job);
        drop(lanes);
        self.bell.notify_one();
        true
    }

    /// Moves the next calls to `round`, which is empty. Waits for one, until `until`.
    pub fn take(&self, round: &mut Vec<Job>, until: Instant) -> Next {
        let mut lanes = self.lanes.lock();
        loop {
            let count = lanes.own.len().min(ROUND);
            round.extend(lanes.own.drain(..count));
            round.extend(lanes.foreign.pop_front());
            if !round.is_empty() {
                return Next::Round;
            }
            if lanes.is_closed {
                return Next::Closed;
            }
            if self.bell.wait_until(&mut lanes, until).timed_out() {
                return Next::Nothing;
            }
        }
    }

    /// Adds the rest of a call that has been begun.
    pub fn put_back(&self, job: Job) {
        self.lanes.lock().lane(&job).push_back(job);
    }

    /// Takes no more calls. Those that wait are still run.
    pub fn close(&self) {
        self.lanes.lock().is_closed = true;
        self.bell.notify_one();
    }

    /// Whether no more calls are taken.
    pub fn is_closed(&self) -> bool {
        self.lanes.lock().is_closed
    }
}

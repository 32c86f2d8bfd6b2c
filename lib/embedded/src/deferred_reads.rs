//! Reads while a script runs, so that pages and health checks do not wait for a long script.
//!
//! Between two commands of the script, the engine's thread answers them as if they had arrived just before it: they see
//! none of its changes, and the time at which it began.

use super::commands;
use super::committer::{CommitState, deliver};
use super::failure::Failure;
use super::progress::Answer;
use super::queue::{Job, Queue};
use coord_store::{Request, StoreError, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The reads that wait for the engine.
pub(super) struct DeferredReads {
    queue: Arc<Queue>,
    shared: Arc<CommitState>,
}

impl DeferredReads {
    pub fn new(queue: Arc<Queue>, shared: Arc<CommitState>) -> Self {
        DeferredReads { queue, shared }
    }

    /// Whether any read waits.
    pub fn is_any_waiting(&self) -> bool {
        self.queue.has_reads()
    }

    /// Answers one round of reads. The running script must not be inside a command.
    pub fn answer_round(&self) {
        let mut round = Vec::new();
        self.queue.take_reads(&mut round);
        let mut answers: Vec<Answer> = round.into_iter().filter_map(|job| self.run_job(job)).collect();
        deliver(&self.shared, &mut answers);
    }

    fn run_job(&self, mut job: Job) -> Option<Answer> {
        if job.is_abandoned() {
            return None;
        }
        while let Some(request) = job.requests.pop_front() {
            let (outcome, depends_on) = self.run_request(&request);
            self.shared.commands.fetch_add(1, Ordering::Relaxed);
            match outcome {
                Ok(value) => job.push(value),
                Err(error) => return Some(job.into_failure(error)),
            }
            job.depend_on(depends_on);
        }
        Some(job.into_answer())
    }

    /// The reply, and the batch that must be durable before it is sent.
    fn run_request(&self, request: &Request) -> (Result<Value, StoreError>, u64) {
        let words: Vec<&[u8]> = match request {
            Request::Command(words) => words.iter().map(Vec::as_slice).collect(),
            Request::Script { .. } => Vec::new(),
        };
        let (outcome, depends_on) = self
            .shared
            .keyspace
            .lock()
            .read_before_script(|keyspace| catch_unwind(AssertUnwindSafe(|| commands::run(keyspace, &words))));
        let outcome = match outcome {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(Failure::Reply(text))) => Ok(Value::Error(text.into_owned())),
            Ok(Err(Failure::Storage(text))) => Err(StoreError::Failed(text)),
            Err(_) => Err(StoreError::Failed("ERR the store failed at this request".to_owned())),
        };
        (outcome, depends_on)
    }
}

//! The durable batches, and the responses that wait for one.

use coord_store::{StoreError, Value};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ops::RangeInclusive;
use tokio::sync::oneshot;

/// Maximum number of lost ranges in memory. Failures in a row are one range, and no call lasts for that many.
const MAX_LOST: usize = 1024;

/// Sends the result of a call to its caller.
pub(super) type ReplySender = oneshot::Sender<Result<Vec<Value>, StoreError>>;

/// The result of a call, before it is sent.
pub(super) struct Answer {
    pub outcome: Result<Vec<Value>, StoreError>,
    /// The batch that must be durable before it is sent; 0 is none.
    pub depends_on: u64,
    /// The first batch that it depends on.
    pub since: u64,
    pub reply: ReplySender,
}

impl Answer {
    fn deliver(self) {
        // A caller that has given up needs no response.
        let _ = self.reply.send(self.outcome);
    }
}

/// The durable batches. The engine sends results that wait for no batch; the committer sends the others after a commit.
#[derive(Default)]
pub(super) struct Progress(Mutex<State>);

#[derive(Default)]
struct State {
    /// All batches up to this one are durable, except those that are lost.
    durable: u64,
    /// The lost batches, for calls whose result is not settled yet.
    lost: VecDeque<RangeInclusive<u64>>,
    /// Why the newest lost batch is lost.
    failure: String,
    waiting: Vec<Answer>,
}

impl State {
    /// Whether `answer` depends on a batch that is, or may be, lost.
    fn is_lost(&self, answer: &Answer) -> bool {
        let mut lost = self.lost.iter();
        lost.any(|lost| *lost.start() <= answer.depends_on && answer.since <= *lost.end())
    }
}

impl Progress {
    /// Sends `answers`, each as soon as the batches that it depends on are durable. Returns whether any has to wait.
    pub fn settle(&self, answers: &mut Vec<Answer>) -> bool {
        let mut is_waiting = false;
        if answers.iter().any(|answer| answer.depends_on > 0) {
            let mut state = self.0.lock();
            let durable = state.durable;
            let lost = answers
                .iter_mut()
                .filter(|answer| answer.depends_on > 0 && state.is_lost(answer));
            fail(lost, &state.failure);
            let before = state.waiting.len();
            let unsettled = answers.extract_if(.., |answer| answer.outcome.is_ok() && answer.depends_on > durable);
            state.waiting.extend(unsettled);
            is_waiting = state.waiting.len() > before;
        }
        answers.drain(..).for_each(Answer::deliver);
        is_waiting
    }

    /// Marks all batches up to `durable` as durable.
    pub fn advance(&self, durable: u64) {
        let ready: Vec<Answer> = {
            let mut state = self.0.lock();
            state.durable = durable;
            state
                .waiting
                .extract_if(.., |answer| answer.depends_on <= durable)
                .collect()
        };
        ready.into_iter().for_each(Answer::deliver);
    }

    /// Marks the batches after the newest durable one, up to `last`, as lost for `reason`. Every response that waits
    /// for one of them fails.
    pub fn lose(&self, last: u64, reason: String) {
        let mut waiting = {
            let mut state = self.0.lock();
            let batches = state.durable + 1..=last;
            state.durable = last;
            match state.lost.back_mut() {
                Some(before) if before.end() + 1 == *batches.start() => *before = *before.start()..=last,
                _ => state.lost.push_back(batches),
            }
            if state.lost.len() > MAX_LOST {
                state.lost.pop_front();
            }
            state.failure.clone_from(&reason);
            state
                .waiting
                .extract_if(.., |answer| answer.since <= last)
                .collect::<Vec<_>>()
        };
        fail(waiting.iter_mut(), &reason);
        waiting.into_iter().for_each(Answer::deliver);
    }
}

fn fail<'a>(answers: impl Iterator<Item = &'a mut Answer>, reason: &str) {
    for answer in answers {
        answer.outcome = Err(StoreError::Failed(format!("the disk failed: {reason}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_batch_stays_lost_when_later_ones_are_durable() {
        let progress = Progress::default();
        progress.advance(4);
        progress.lose(6, "no space".to_owned());
        progress.lose(8, "no space".to_owned());
        assert_eq!(progress.0.lock().lost, [5..=8], "failures in a row are one range");
        progress.advance(9);
        progress.lose(11, "no space".to_owned());
        progress.advance(12);
        let good = |since: u64, depends_on: u64| {
            let (reply, mut given) = oneshot::channel();
            let answer = Answer {
                outcome: Ok(Vec::new()),
                depends_on,
                since,
                reply,
            };
            assert!(!progress.settle(&mut vec![answer]), "nothing is left to wait for");
            given.try_recv().unwrap().is_ok()
        };
        for (since, depends_on, is_good) in [
            (0, 0, true),
            (4, 4, true),
            (5, 5, false),
            (8, 8, false),
            (9, 9, true),
            (10, 11, false),
            (12, 12, true),
            // Of a call of two requests, the first was lost.
            (8, 9, false),
            (9, 12, false),
        ] {
            assert_eq!(good(since, depends_on), is_good, "{since}, {depends_on}");
        }
    }
}

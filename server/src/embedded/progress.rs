//! How far the disk is, and the answers that wait for it.

use coord::store::{StoreError, Value};
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Where the answer of a call goes.
pub(super) type Reply = oneshot::Sender<Result<Vec<Value>, StoreError>>;

/// The answer of a call, on its way.
pub(super) struct Answer {
    pub outcome: Result<Vec<Value>, StoreError>,
    /// The batch that must be durable before it is given; 0 is none.
    pub depends_on: u64,
    pub reply: Reply,
}

impl Answer {
    fn give(self) {
        // Who has given up needs none.
        let _ = self.reply.send(self.outcome);
    }
}

/// Answers are given by the engine where nothing is to be waited for, and by the committer, many at once, after a commit.
#[derive(Default)]
pub(super) struct Progress(Mutex<State>);

#[derive(Default)]
struct State {
    /// All batches up to this one are durable.
    durable: u64,
    /// Why no further one will be.
    failure: Option<String>,
    waiting: Vec<Answer>,
}

impl Progress {
    /// Gives `answers`, each as soon as what it depends on is durable. Whether one has to wait.
    pub fn settle(&self, answers: &mut Vec<Answer>) -> bool {
        let mut is_waiting = false;
        if answers.iter().any(|answer| answer.depends_on > 0) {
            let mut state = self.0.lock();
            let durable = state.durable;
            match &state.failure {
                None => {
                    let before = state.waiting.len();
                    state
                        .waiting
                        .extend(answers.extract_if(.., |answer| answer.depends_on > durable));
                    is_waiting = state.waiting.len() > before;
                }
                Some(reason) => refuse(answers.iter_mut().filter(|answer| answer.depends_on > durable), reason),
            }
        }
        answers.drain(..).for_each(Answer::give);
        is_waiting
    }

    /// All batches up to `durable` are.
    pub fn advance(&self, durable: u64) {
        let ready: Vec<Answer> = {
            let mut state = self.0.lock();
            state.durable = durable;
            state
                .waiting
                .extract_if(.., |answer| answer.depends_on <= durable)
                .collect()
        };
        ready.into_iter().for_each(Answer::give);
    }

    /// No further batch will be durable.
    pub fn fail(&self, reason: String) {
        let mut waiting = {
            let mut state = self.0.lock();
            state.failure = Some(reason.clone());
            std::mem::take(&mut state.waiting)
        };
        refuse(waiting.iter_mut(), &reason);
        waiting.into_iter().for_each(Answer::give);
    }
}

fn refuse<'a>(answers: impl Iterator<Item = &'a mut Answer>, reason: &str) {
    for answer in answers {
        answer.outcome = Err(StoreError::Failed(format!("the disk failed: {reason}")));
    }
}

//! Combines calls that would wait for one another into one request. While the maximum number of requests is in
//! progress, further calls wait, and the next request sends them all as one pipeline.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex};

use coord_runtime::mutex::lock;
use tokio::sync::oneshot;

use crate::round_trip::Failure;
use crate::{StoreError, Value};

/// Maximum number of commands of one request. A larger call is sent alone.
const MAX_COMMANDS: usize = 128;
/// Maximum bytes of one request. A larger call is sent alone.
const MAX_BYTES: usize = 256 * 1024;

/// The outcome of a call.
type Outcome = Result<Vec<Value>, Failure>;

/// A call that waits for its request.
struct Call {
    /// `[["CMD","arg"],...]`.
    body: String,
    commands: usize,
    reply: oneshot::Sender<Outcome>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Call>,
    /// Number of requests in progress.
    active: usize,
}

/// Combines calls into requests.
pub(super) struct RequestBatcher {
    state: Arc<Mutex<State>>,
    max_concurrent: usize,
}

impl RequestBatcher {
    /// A batcher with at most `max_concurrent` concurrent requests.
    pub fn new(max_concurrent: usize) -> Self {
        RequestBatcher {
            state: Arc::default(),
            max_concurrent,
        }
    }

    /// Sends a call of `commands` commands by `post`, alone or with others, and returns its replies. `post` gets the
    /// body and the number of calls.
    pub async fn send<F>(
        &self,
        body: String,
        commands: usize,
        post: impl Fn(String, usize) -> F + Send + Sync + 'static,
    ) -> Outcome
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let (reply, outcome) = oneshot::channel();
        let starts_request = {
            let mut state = lock(&self.state);
            state.waiting.push_back(Call { body, commands, reply });
            let starts_request = state.active < self.max_concurrent;
            state.active += usize::from(starts_request);
            starts_request
        };
        if starts_request {
            // Runs in its own task, so that a cancelled caller does not cancel the calls of others.
            let request = ActiveRequest {
                state: Arc::clone(&self.state),
                is_over: false,
            };
            tokio::spawn(send_waiting(request, post));
        }
        outcome.await.unwrap_or_else(|_| {
            Err(Failure::transient(StoreError::Unreachable(
                "the request was abandoned".into(),
            )))
        })
    }
}

/// A slot among the concurrent requests.
struct ActiveRequest {
    state: Arc<Mutex<State>>,
    is_over: bool,
}

impl ActiveRequest {
    /// The next calls for one request. Empty when no call waits; then the slot is free again.
    fn take_calls(&mut self) -> Vec<Call> {
        let mut state = lock(&self.state);
        // Calls without a receiver are dropped.
        state.waiting.retain(|call| !call.reply.is_closed());
        let (mut commands, mut bytes) = (0, 0);
        let fitting = state.waiting.iter().take_while(|call| {
            commands += call.commands;
            bytes += call.body.len();
            commands <= MAX_COMMANDS && bytes <= MAX_BYTES
        });
        let count = fitting.count().max(1).min(state.waiting.len());
        if count == 0 {
            // Under the lock, so that the next call starts a new request.
            state.active -= 1;
            self.is_over = true;
        }
        state.waiting.drain(..count).collect()
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        if !self.is_over {
            lock(&self.state).active -= 1;
        }
    }
}

/// Sends requests until no call waits.
async fn send_waiting<F>(mut request: ActiveRequest, post: impl Fn(String, usize) -> F)
where
    F: Future<Output = Outcome> + Send,
{
    loop {
        let calls = request.take_calls();
        if calls.is_empty() {
            break;
        }
        send_together(calls, &post).await;
    }
}

async fn send_together<F>(mut calls: Vec<Call>, post: &impl Fn(String, usize) -> F)
where
    F: Future<Output = Outcome> + Send,
{
    let body = match calls.as_mut_slice() {
        [call] => std::mem::take(&mut call.body),
        calls => join(calls),
    };
    match post(body, calls.len()).await {
        Ok(replies) if replies.len() == calls.iter().map(|call| call.commands).sum::<usize>() => {
            let mut replies = replies.into_iter();
            for call in calls {
                let call_replies = replies.by_ref().take(call.commands).collect();
                let _ = call.reply.send(Ok(call_replies));
            }
        }
        outcome => {
            let failure = outcome
                .err()
                .unwrap_or_else(|| Failure::permanent(StoreError::Malformed("not as many replies as requests".into())));
            for call in calls {
                let _ = call.reply.send(Err(failure.clone()));
            }
        }
    }
}

/// The commands of all calls in one list.
fn join(calls: &[Call]) -> String {
    let mut body = String::with_capacity(calls.iter().map(|call| call.body.len()).sum());
    for call in calls {
        body.push(if body.is_empty() { '[' } else { ',' });
        body.push_str(
            call.body
                .strip_prefix('[')
                .and_then(|body| body.strip_suffix(']'))
                .unwrap_or_default(),
        );
    }
    body.push(']');
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    type SentBodies = Arc<Mutex<Vec<(String, usize)>>>;

    /// Replies to each command with its number in the request, after a pause; fails if the body has `fail`.
    fn post(
        seen: &SentBodies,
    ) -> impl Fn(String, usize) -> futures::future::BoxFuture<'static, Outcome> + Send + Sync + 'static {
        let seen = Arc::clone(seen);
        move |body, calls| {
            seen.lock().unwrap().push((body.clone(), calls));
            Box::pin(async move {
                tokio::time::sleep(Duration::from_millis(20)).await;
                if body.contains("fail") {
                    return Err(Failure::transient(StoreError::Unreachable("as told".into())));
                }
                let rows: Vec<Vec<String>> = serde_json::from_str(&body).expect("a list of commands");
                Ok(rows.into_iter().map(|row| Value::bulk(row.concat())).collect())
            })
        }
    }

    async fn send(batcher: &RequestBatcher, seen: &SentBodies, words: &[&str]) -> Result<Vec<String>, String> {
        let rows: Vec<[&str; 1]> = words.iter().map(|word| [*word]).collect();
        let body = serde_json::to_string(&rows).unwrap();
        let outcome = batcher.send(body, words.len(), post(seen)).await;
        let texts = |replies: Vec<Value>| replies.iter().map(|reply| reply.as_str().unwrap().to_owned()).collect();
        outcome.map(texts).map_err(|failure| failure.error.to_string())
    }

    #[tokio::test]
    async fn calls_that_wait_go_together_and_each_gets_its_own_replies() {
        let (batcher, seen) = (RequestBatcher::new(1), SentBodies::default());
        let [a, b, c, d] = tokio::join!(
            send(&batcher, &seen, &["a1", "a2"]),
            send(&batcher, &seen, &["b1"]),
            send(&batcher, &seen, &["c1", "c2"]),
            send(&batcher, &seen, &["d1"]),
        )
        .into();
        assert_eq!(
            (a.unwrap(), b.unwrap()),
            (vec!["a1".to_owned(), "a2".into()], vec!["b1".to_owned()])
        );
        assert_eq!(
            (c.unwrap(), d.unwrap()),
            (vec!["c1".to_owned(), "c2".into()], vec!["d1".to_owned()])
        );
        let bodies = std::mem::take(&mut *seen.lock().unwrap());
        let first = bodies[0].0.as_str();
        assert!(bodies.len() == 1 || first == r#"[["a1"],["a2"]]"#, "{bodies:?}");
        assert_eq!(bodies.iter().map(|(_, calls)| calls).sum::<usize>(), 4);
        assert!(bodies.len() <= 2, "{bodies:?}");
        assert_eq!(
            send(&batcher, &seen, &["e"]).await.unwrap(),
            ["e"],
            "and so do later calls"
        );
        assert_eq!(batcher.state.lock().unwrap().active, 0);
    }

    #[tokio::test]
    async fn an_abandoned_wait_cancels_no_other_and_a_failure_reaches_all() {
        let (batcher, seen) = (RequestBatcher::new(1), SentBodies::default());
        let given_up = tokio::time::timeout(Duration::from_millis(5), send(&batcher, &seen, &["a"]));
        let (given_up, b, c) = tokio::join!(
            given_up,
            async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                send(&batcher, &seen, &["fail"]).await
            },
            async {
                tokio::time::sleep(Duration::from_millis(2)).await;
                send(&batcher, &seen, &["c"]).await
            },
        );
        assert!(given_up.is_err());
        assert!(b.unwrap_err().contains("as told") && c.unwrap_err().contains("as told"));
        assert_eq!(send(&batcher, &seen, &["d"]).await.unwrap(), ["d"]);
    }

    #[tokio::test]
    async fn one_request_takes_a_bounded_number_of_commands() {
        let (batcher, seen) = (RequestBatcher::new(1), SentBodies::default());
        let words = vec!["w"; 60];
        let calls = (0..5).map(|_| send(&batcher, &seen, &words));
        for replies in futures::future::join_all(calls).await {
            assert_eq!(replies.unwrap().len(), 60);
        }
        let seen = seen.lock().unwrap();
        assert!(seen.iter().all(|(_, calls)| *calls <= 2), "{seen:?}");
    }
}

//! What the remote connections share: scripts as EVALSHA first and EVAL on NOSCRIPT, further tries, and the time limit.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::time::Instant;

use super::script::sha1_hex;
use super::{Limits, Request, Script, StoreError, Value};
use crate::timing::count_round_trip;

/// One command as it goes over the wire, name first.
pub(super) type Words<'r> = Vec<Cow<'r, [u8]>>;

/// Whether the commands of one round trip stand alone or are one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// In order, but others may come between.
    Pipeline,
    /// MULTI and EXEC around them.
    Transaction,
}

/// Why a round trip failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// What the caller is told.
    pub error: StoreError,
    /// Whether it was of a passing kind: no connection, a lost one, no answer in time, or a server that is overtaxed.
    pub is_passing: bool,
}

impl Failure {
    /// A failure that a further try may mend.
    pub fn passing(error: StoreError) -> Self {
        Failure {
            error,
            is_passing: true,
        }
    }

    /// A failure that will be the same next time.
    pub fn lasting(error: StoreError) -> Self {
        Failure {
            error,
            is_passing: false,
        }
    }
}

/// A connection that can carry a batch there and its replies back, once.
#[async_trait]
pub(super) trait RoundTrip: Sync {
    /// Sends `batch` in one round trip, bounded by [`Limits::request`], and gives one reply for each command.
    async fn send(&self, batch: &[Words<'_>], mode: Mode) -> Result<Vec<Value>, Failure>;
}

/// How a kind of store wants its scripts.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Put before the text of every script; changes its SHA-1.
    first_line: &'static str,
    /// The SHA-1 of a script (of its plain text) -> that of the text with `first_line`.
    shas: Mutex<HashMap<&'static str, Arc<str>>>,
}

impl Dialect {
    /// Scripts go out with `first_line` (which ends in a newline, or is empty) before their text.
    pub fn new(first_line: &'static str) -> Self {
        Dialect {
            first_line,
            shas: Mutex::new(HashMap::new()),
        }
    }

    fn text(&self, script: &'static Script) -> Cow<'static, [u8]> {
        if self.first_line.is_empty() {
            return Cow::Borrowed(script.source.as_bytes());
        }
        Cow::Owned([self.first_line, script.source].concat().into_bytes())
    }

    fn sha(&self, script: &'static Script) -> Cow<'static, [u8]> {
        if self.first_line.is_empty() {
            return Cow::Borrowed(script.sha.as_bytes());
        }
        let mut shas = self.shas.lock().unwrap_or_else(PoisonError::into_inner);
        let sha = shas
            .entry(script.sha.as_str())
            .or_insert_with(|| sha1_hex(&[self.first_line, script.source].concat()).into());
        Cow::Owned(sha.as_bytes().to_vec())
    }

    fn words<'r>(&self, request: &'r Request, name: &'static str) -> Words<'r> {
        match request {
            Request::Command(words) => words.iter().map(|word| Cow::Borrowed(word.as_slice())).collect(),
            Request::Script { script, keys, args } => {
                let mut words = Vec::with_capacity(3 + keys.len() + args.len());
                words.push(Cow::Borrowed(name.as_bytes()));
                words.push(if name == EVAL {
                    self.text(script)
                } else {
                    self.sha(script)
                });
                words.push(Cow::Owned(keys.len().to_string().into_bytes()));
                words.extend(keys.iter().map(|key| Cow::Borrowed(key.as_bytes())));
                words.extend(args.iter().map(|arg| Cow::Borrowed(arg.as_slice())));
                words
            }
        }
    }
}

const EVAL: &str = "EVAL";
const EVALSHA: &str = "EVALSHA";

/// Runs `batch` in one round trip. Scripts that the store does not know yet are sent again, with their text, in one
/// further round trip: those run after the rest of their batch.
pub(super) async fn run(
    wire: &impl RoundTrip,
    dialect: &Dialect,
    limits: &Limits,
    batch: &[Request],
) -> Result<Vec<Value>, StoreError> {
    let deadline = Instant::now() + limits.call;
    let all: Vec<&Request> = batch.iter().collect();
    let mut replies = send(wire, dialect, limits, &all, EVALSHA, deadline).await?;
    let unknown: Vec<usize> = (0..batch.len())
        .filter(|&index| matches!(batch[index], Request::Script { .. }) && is_no_script(&replies[index]))
        .collect();
    if unknown.is_empty() {
        return Ok(replies);
    }
    let again: Vec<&Request> = unknown.iter().map(|&index| &batch[index]).collect();
    let late = send(wire, dialect, limits, &again, EVAL, deadline).await?;
    for (index, reply) in unknown.into_iter().zip(late) {
        replies[index] = reply;
    }
    Ok(replies)
}

/// Runs `batch` as one transaction, in one round trip. Scripts go with their text: inside a transaction there is no
/// second chance for one that the store does not know.
pub(super) async fn run_atomically(
    wire: &impl RoundTrip,
    dialect: &Dialect,
    batch: &[Request],
) -> Result<Vec<Value>, StoreError> {
    if batch.is_empty() {
        return Ok(Vec::new());
    }
    let words: Vec<Words<'_>> = batch.iter().map(|request| dialect.words(request, EVAL)).collect();
    count_round_trip();
    let replies = wire
        .send(&words, Mode::Transaction)
        .await
        .map_err(|failure| failure.error)?;
    one_for_each(replies, batch.len())
}

async fn send(
    wire: &impl RoundTrip,
    dialect: &Dialect,
    limits: &Limits,
    batch: &[&Request],
    name: &'static str,
    deadline: Instant,
) -> Result<Vec<Value>, StoreError> {
    if batch.is_empty() {
        return Ok(Vec::new());
    }
    let words: Vec<Words<'_>> = batch.iter().map(|request| dialect.words(request, name)).collect();
    let is_repeatable = batch.iter().all(|request| request.is_repeatable());
    let mut again = 0;
    loop {
        count_round_trip();
        let failure = match tokio::time::timeout_at(deadline, wire.send(&words, Mode::Pipeline)).await {
            Ok(Ok(replies)) => return one_for_each(replies, batch.len()),
            Ok(Err(failure)) => failure,
            Err(_) => return Err(StoreError::Timeout(limits.call)),
        };
        let pause = limits.pause(again).filter(|_| is_repeatable && failure.is_passing);
        match pause {
            Some(pause) if Instant::now() + pause < deadline => tokio::time::sleep(pause).await,
            _ => return Err(failure.error),
        }
        again += 1;
    }
}

fn one_for_each(replies: Vec<Value>, expected: usize) -> Result<Vec<Value>, StoreError> {
    if replies.len() == expected {
        return Ok(replies);
    }
    Err(StoreError::Malformed(format!(
        "{} replies to {expected} requests",
        replies.len()
    )))
}

fn is_no_script(reply: &Value) -> bool {
    matches!(reply, Value::Error(message) if message.starts_with("NOSCRIPT"))
}

#[cfg(test)]
mod tests;

//! The common part of remote connections: scripts as EVALSHA first and EVAL on NOSCRIPT, retries, and the time limit.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::time::Instant;

use super::script::sha1_hex;
use super::{Limits, Request, Script, StoreError, Value};
use crate::timing::count_round_trip;

/// One command as sent, name first.
pub(super) type Words<'r> = Vec<Cow<'r, [u8]>>;

/// Whether the commands of one round trip are separate or one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// In order, but other clients' commands may come between.
    Pipeline,
    /// MULTI and EXEC around them.
    Transaction,
}

/// Why a round trip failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The error for the caller.
    pub error: StoreError,
    /// Whether the error is transient: no connection, a lost one, a timeout, or an overloaded server.
    pub is_passing: bool,
}

impl Failure {
    /// A transient failure, which may be retried.
    pub fn passing(error: StoreError) -> Self {
        Failure {
            error,
            is_passing: true,
        }
    }

    /// A permanent failure.
    pub fn lasting(error: StoreError) -> Self {
        Failure {
            error,
            is_passing: false,
        }
    }
}

/// A connection that sends a batch and returns its replies, once.
#[async_trait]
pub(super) trait RoundTrip: Sync {
    /// Sends `batch` in one round trip, within [`Limits::request`], and returns one reply for each command.
    async fn send(&self, batch: &[Words<'_>], mode: Mode) -> Result<Vec<Value>, Failure>;
}

/// The form of scripts for a kind of store.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Prepended to the text of every script; changes its SHA-1.
    first_line: &'static str,
    /// The SHA-1 of a script's plain text -> that of the text with `first_line`.
    shas: Mutex<HashMap<&'static str, Arc<str>>>,
}

impl Dialect {
    /// Scripts are sent with `first_line` (which ends in a newline, or is empty) before their text.
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

/// Runs `batch` in one round trip. Scripts that the store does not know are sent again, with their text, in one further
/// round trip: those run after the rest of their batch.
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

/// Runs `batch` as one transaction, in one round trip. Scripts are sent with their text, because a transaction cannot send
/// an unknown script again.
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

//! The common part of remote connections. Scripts run as functions of a library, which is loaded if it is missing, or
//! else by EVALSHA, and by EVAL on NOSCRIPT. Retries and the time limit are here, too.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::functions::{self, Functions, Words};
use super::script::{Library, sha1_hex};
use super::{Limits, Request, Script, StoreError, Value};
use coord_runtime::mutex::lock;
use coord_runtime::retry;
use coord_runtime::timing::count_round_trip;

/// Why a round trip failed.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// The error for the caller.
    pub error: StoreError,
    /// Whether the error is transient: no connection, a lost one, a timeout, or an overloaded server.
    pub is_transient: bool,
}

impl Failure {
    /// A transient failure, which may be retried.
    pub fn transient(error: StoreError) -> Self {
        Failure {
            error,
            is_transient: true,
        }
    }

    pub fn permanent(error: StoreError) -> Self {
        Failure {
            error,
            is_transient: false,
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

/// The outcome of `work`, which fails after `limit`.
pub(super) async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let outcome = tokio::time::timeout(limit, work).await;
    outcome.unwrap_or_else(|_| Err(Failure::transient(StoreError::Timeout(limit))))
}

/// A connection that sends a batch and returns its replies, once.
#[async_trait]
pub(super) trait RoundTrip: Sync {
    /// Sends `batch` in one round trip, within [`Limits::request`], and returns one reply for each command.
    async fn send(&self, batch: &[Words<'_>]) -> Result<Vec<Value>, Failure>;
}

/// The form of scripts for a kind of store.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The flag of every script and function, or nothing.
    pub flag: &'static str,
    /// Prepended to the text of every script; changes its SHA-1.
    first_line: String,
    /// The SHA-1 of a script's plain text -> that of the text with `first_line`.
    shas: Mutex<HashMap<&'static str, Arc<str>>>,
    pub functions: Functions,
}

/// How a script is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// FCALL of its function.
    Function,
    /// EVALSHA.
    Sha,
    /// EVAL.
    Text,
}

impl Dialect {
    /// Scripts and functions have `flag`, unless it is empty.
    pub fn new(flag: &'static str) -> Self {
        let first_line = match flag {
            "" => String::new(),
            flag => format!("#!lua flags={flag}\n"),
        };
        Dialect {
            flag,
            first_line,
            shas: Mutex::new(HashMap::new()),
            functions: Functions::default(),
        }
    }

    fn text(&self, script: &'static Script) -> Cow<'static, [u8]> {
        if self.first_line.is_empty() {
            return Cow::Borrowed(script.source().as_bytes());
        }
        Cow::Owned([&self.first_line, script.source()].concat().into_bytes())
    }

    fn sha(&self, script: &'static Script) -> Cow<'static, [u8]> {
        if self.first_line.is_empty() {
            return Cow::Borrowed(script.sha().as_bytes());
        }
        let mut shas = lock(&self.shas);
        let sha = shas
            .entry(script.sha())
            .or_insert_with(|| sha1_hex(&[&self.first_line, script.source()].concat()).into());
        Cow::Owned(sha.as_bytes().to_vec())
    }

    /// The form in which `request` is sent first.
    fn first_form(&self, request: &Request) -> Form {
        match library_of(request) {
            Some(_) if self.functions.are_used() => Form::Function,
            _ => Form::Sha,
        }
    }

    fn words<'r>(&self, request: &'r Request, form: Form) -> Words<'r> {
        match request {
            Request::Command(words) => words.iter().map(|word| Cow::Borrowed(word.as_slice())).collect(),
            Request::Script { script, keys, args } => {
                let mut words = Vec::with_capacity(3 + keys.len() + args.len());
                let (command, name) = match (form, script.library()) {
                    (Form::Function, Some(library)) => {
                        ("FCALL", Cow::Owned(library.function(self.flag, script).into_bytes()))
                    }
                    (Form::Text, _) => ("EVAL", self.text(script)),
                    _ => ("EVALSHA", self.sha(script)),
                };
                words.push(Cow::Borrowed(command.as_bytes()));
                words.push(name);
                words.push(Cow::Owned(keys.len().to_string().into_bytes()));
                words.extend(keys.iter().map(|key| Cow::Borrowed(key.as_bytes())));
                words.extend(args.iter().map(|arg| Cow::Borrowed(arg.as_slice())));
                words
            }
        }
    }
}

fn library_of(request: &Request) -> Option<&'static Library> {
    match request {
        Request::Script { script, .. } => script.library(),
        Request::Command(_) => None,
    }
}

/// Runs `batch` in one round trip. Scripts that the store does not know are sent again in further round trips, after
/// their library or with their text. So they run after the rest of their batch.
pub(super) async fn run(
    wire: &impl RoundTrip,
    dialect: &Dialect,
    limits: &Limits,
    batch: &[Request],
) -> Result<Vec<Value>, StoreError> {
    let call = Call {
        wire,
        dialect,
        limits,
        deadline: Instant::now() + limits.call,
    };
    let forms: Vec<Form> = batch.iter().map(|request| dialect.first_form(request)).collect();
    let all = (0..batch.len()).map(|index| (index, forms[index])).collect();
    let mut replies = vec![Value::Nil; batch.len()];
    let is_function = |index: &usize| forms[*index] == Form::Function;
    let library = (0..batch.len())
        .find(is_function)
        .and_then(|index| library_of(&batch[index]));
    let usage = library.and_then(|library| dialect.functions.due_usage_command(|| library.name(dialect.flag)));
    call.send(batch, all, usage, &mut replies).await?;

    let missing = |replies: &[Value]| -> Vec<usize> {
        let indices = (0..batch.len()).filter(is_function);
        indices
            .filter(|&index| is_error(&replies[index], functions::is_missing))
            .collect()
    };
    let without_library = missing(&replies);
    if let Some(library) = without_library.first().and_then(|&index| library_of(&batch[index]))
        && call.load(library).await
    {
        let retried = without_library.into_iter().map(|index| (index, Form::Function));
        call.send(batch, retried.collect(), None, &mut replies).await?;
    }
    // A store that still lacks the library, has no functions, or cannot write now runs these as scripts.
    let mut as_scripts = missing(&replies);
    for index in (0..batch.len()).filter(is_function) {
        let Value::Error(error) = &replies[index] else { continue };
        if functions::lacks_functions(error) {
            dialect.functions.deny(error);
            as_scripts.push(index);
        } else if functions::was_refused_as_write(error) {
            as_scripts.push(index);
        }
    }
    let as_scripts = as_scripts.into_iter().map(|index| (index, Form::Sha)).collect();
    call.send(batch, as_scripts, None, &mut replies).await?;
    let unknown = (0..batch.len()).filter(|&index| {
        matches!(batch[index], Request::Script { .. })
            && is_error(&replies[index], |error| error.starts_with("NOSCRIPT"))
    });
    let unknown = unknown.map(|index| (index, Form::Text)).collect();
    call.send(batch, unknown, None, &mut replies).await?;
    Ok(replies)
}

/// One call of a store, which may take several round trips.
struct Call<'c, W> {
    wire: &'c W,
    dialect: &'c Dialect,
    limits: &'c Limits,
    deadline: Instant,
}

impl<W: RoundTrip> Call<'_, W> {
    /// Sends the requests with these indices, each in its form, and stores their replies at the same indices. The
    /// command `usage` goes before them; its reply does not matter, and it may run twice.
    async fn send(
        &self,
        batch: &[Request],
        requests: Vec<(usize, Form)>,
        usage: Option<Words<'_>>,
        replies: &mut [Value],
    ) -> Result<(), StoreError> {
        if requests.is_empty() {
            return Ok(());
        }
        let extra = usize::from(usage.is_some());
        let commands = requests
            .iter()
            .map(|&(index, form)| self.dialect.words(&batch[index], form));
        let words: Vec<Words<'_>> = usage.into_iter().chain(commands).collect();
        let is_repeatable = requests.iter().all(|&(index, _)| batch[index].is_repeatable());
        let new_replies = self.exchange(&words, is_repeatable).await?;
        for ((index, _), reply) in requests.into_iter().zip(new_replies.into_iter().skip(extra)) {
            replies[index] = reply;
        }
        Ok(())
    }

    /// Loads `library`, and returns whether the store has it now. This is a separate round trip: the calls that missed
    /// the library have certainly not run, and may run as scripts in any case.
    async fn load(&self, library: &Library) -> bool {
        let load = vec![
            Cow::Borrowed(b"FUNCTION".as_slice()),
            Cow::Borrowed(b"LOAD"),
            Cow::Owned(library.code(self.dialect.flag).into_bytes()),
        ];
        let outcome = self.exchange(&[load], true).await;
        self.dialect.functions.note_load(&outcome)
    }

    async fn exchange(&self, words: &[Words<'_>], is_repeatable: bool) -> Result<Vec<Value>, StoreError> {
        let mut retries = 0;
        loop {
            count_round_trip();
            let sending = self.wire.send(words);
            let failure = match tokio::time::timeout_at(self.deadline, sending).await {
                Ok(Ok(replies)) => return check_count(replies, words.len()),
                Ok(Err(failure)) => failure,
                Err(_) => return Err(StoreError::Timeout(self.limits.call)),
            };
            let pause = retry::pause(&self.limits.pauses, retries).filter(|_| is_repeatable && failure.is_transient);
            match pause {
                Some(pause) if Instant::now() + pause < self.deadline => tokio::time::sleep(pause).await,
                _ => return Err(failure.error),
            }
            retries += 1;
        }
    }
}

/// Returns `replies` if there is one for each request.
fn check_count(replies: Vec<Value>, expected: usize) -> Result<Vec<Value>, StoreError> {
    if replies.len() == expected {
        return Ok(replies);
    }
    Err(StoreError::Malformed(format!(
        "{} replies to {expected} requests",
        replies.len()
    )))
}

fn is_error(reply: &Value, is_wanted: impl Fn(&str) -> bool) -> bool {
    matches!(reply, Value::Error(error) if is_wanted(error))
}

#[cfg(test)]
mod tests;

use coord_intents::ledger::{ContentHash, Prepared, ResultStatus, TraceId};

use super::scripts::RECORD;
use crate::domain::FilePath;
use crate::state::admission::{AdmissionTerms, Admitted, Kind, admitted};
use crate::state::reply::{Reply, arguments, call};
use crate::state::request_keys::share_keys;
use crate::store::{Store, StoreError};

/// An event that is recorded.
#[derive(Clone, Debug)]
pub struct RecordedEvent {
    /// Its kind, with what the script has to know of it.
    pub kind: RecordedKind,
    /// Its id.
    pub trace_id: TraceId,
    /// Its line, with the result that was sent.
    pub line: Prepared,
}

/// The kind of an event.
#[derive(Clone, Debug)]
pub enum RecordedKind {
    /// A file was changed.
    Mutation(Mutation),
    /// The agent was given a prompt.
    Prompt,
    /// The agent's session has ended.
    End,
    /// Anything else: it is recorded as it was sent.
    Other(ResultStatus),
}

/// A change of a file.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// The file.
    pub path: FilePath,
    /// Its content afterwards.
    pub hash: ContentHash,
    /// Fencing token of the lock, where it was sent.
    pub token: Option<i64>,
    /// Whether the caller says that it failed.
    pub has_failed: bool,
    /// `result` where the caller has no lock for writing.
    pub without_lock: String,
    /// `result` where the lock has another token.
    pub other_token: String,
}

/// What is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The cited intent.
    pub intent: Option<&'a str>,
    /// Whether a prompt ends the selection of an intent.
    pub is_reset_by_prompts: bool,
    /// The events, in order.
    pub events: &'a [RecordedEvent],
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedAs {
    /// It is recorded with this status.
    New(ResultStatus),
    /// It was recorded before.
    Repeated,
}

/// The result of recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordOutcome {
    /// For each event.
    pub outcomes: Vec<RecordedAs>,
    /// Whether the ledger has more lines now.
    pub has_lines: bool,
    /// Whether the cited intent is unknown: it is in no line.
    pub is_unknown_intent: bool,
    /// Number of files without room for their content, which is in the ledger alone.
    pub without_room: u64,
}

/// Appends events to the ledger. One round trip. It counts as a release does: what was done can always be recorded.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the events may have been recorded.
pub async fn record(
    store: &dyn Store,
    entry: &AdmissionTerms<'_>,
    request: &Record<'_>,
) -> Result<Admitted<RecordOutcome>, StoreError> {
    let keys = share_keys(entry);
    let mut args = entry.arguments(Kind::Release, request.events.len(), &keys);
    args.extend(arguments([
        request.intent.unwrap_or_default(),
        if request.is_reset_by_prompts {
            "prompt"
        } else {
            "session"
        },
    ]));
    args.extend(request.events.iter().flat_map(RecordedEvent::arguments));
    let reply = call(store, &RECORD, keys, args).await?;
    admitted(reply, |reply| read_outcome(reply, request.events))
}

impl RecordedEvent {
    fn arguments(&self) -> Vec<Vec<u8>> {
        let kind = match &self.kind {
            RecordedKind::Mutation(_) => "MUTATION",
            RecordedKind::Prompt => "PROMPT",
            RecordedKind::End => "END",
            RecordedKind::Other(_) => "OTHER",
        };
        let mutation = match &self.kind {
            RecordedKind::Mutation(mutation) => Some(mutation),
            _ => None,
        };
        let text = |of: fn(&Mutation) -> String| mutation.map(of).unwrap_or_default();
        // The script adds the last quote.
        let origin = self.line.origin.strip_suffix('"').unwrap_or(&self.line.origin);
        arguments([
            kind,
            self.trace_id.as_str(),
            &text(|mutation| mutation.path.as_str().to_owned()),
            &text(|mutation| mutation.hash.to_string()),
            &text(|mutation| mutation.token.map(|token| token.to_string()).unwrap_or_default()),
            &text(|mutation| if mutation.has_failed { "1" } else { "0" }.to_owned()),
            self.line.action_type.as_str(),
            &self.line.payload,
            &self.line.result,
            &text(|mutation| mutation.without_lock.clone()),
            &text(|mutation| mutation.other_token.clone()),
            origin,
        ])
    }
}

fn read_outcome(mut reply: Reply, events: &[RecordedEvent]) -> Result<RecordOutcome, StoreError> {
    if reply.outcome != "RECORDED" {
        return Err(reply.malformed("an unknown outcome"));
    }
    let texts = reply.texts()?;
    if texts.len() != events.len() {
        return Err(reply.malformed("another number of outcomes"));
    }
    let outcome = |(text, event): (&String, &RecordedEvent)| match (text.as_str(), &event.kind) {
        ("SUCCESS", _) => Ok(RecordedAs::New(ResultStatus::Success)),
        ("FAILURE", _) => Ok(RecordedAs::New(ResultStatus::Failure)),
        ("REPEATED", _) => Ok(RecordedAs::Repeated),
        ("OTHER", RecordedKind::Other(status)) => Ok(RecordedAs::New(*status)),
        _ => Err(reply.malformed("an unknown outcome of an event")),
    };
    let outcomes = texts.iter().zip(events).map(outcome).collect::<Result<_, _>>()?;
    Ok(RecordOutcome {
        outcomes,
        has_lines: reply.flag()?,
        is_unknown_intent: reply.flag()?,
        without_room: reply.number()?.unsigned_abs(),
    })
}

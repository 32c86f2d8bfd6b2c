use coord_intents::ledger::{ContentHash, PreparedLine, ResultStatus, TraceId};
use serde::{Deserialize, Serialize};

use super::scripts::RECORD;
use crate::run::run;
use coord_domain::FilePath;
use coord_state::admission::{AdmissionTerms, Admitted, RequestKind, is_false};
use coord_state::reply::Reply;
use coord_store::{Store, StoreError};

#[derive(Clone, Debug)]
pub struct RecordedEvent {
    /// Its kind, with the fields for the script.
    pub kind: RecordedKind,
    pub trace_id: TraceId,
    /// Its line, with the result that was sent.
    pub line: PreparedLine,
}

#[derive(Clone, Debug)]
pub enum RecordedKind {
    /// A file was changed.
    Mutation(Mutation),
    /// The agent got a prompt.
    Prompt,
    /// The agent's session has ended.
    End,
    /// Any other event: it is recorded with the status that was sent.
    Other(ResultStatus),
}

/// A change of a file, as `record.lua` reads it.
#[derive(Clone, Debug, Serialize)]
pub struct Mutation {
    pub path: FilePath,
    pub hash: ContentHash,
    /// Fencing token of the lock, if it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<i64>,
    /// Whether the caller reports that it failed.
    #[serde(skip_serializing_if = "is_false")]
    pub has_failed: bool,
    /// `result` if the caller has no lock for writing.
    pub without_lock: String,
    /// `result` if the lock has another token.
    pub other_token: String,
}

/// Events to record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    pub intent: Option<&'a str>,
    /// Whether a prompt ends the selection of an intent.
    pub is_reset_by_prompts: bool,
    /// The events, in order.
    pub events: &'a [RecordedEvent],
}

/// The outcome for an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordStatus {
    /// It is recorded with this status.
    New(ResultStatus),
    /// It was already recorded.
    Repeated,
}

/// The result of recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordOutcome {
    /// One for each event.
    pub outcomes: Vec<RecordStatus>,
    /// Whether lines were appended to the ledger.
    pub has_lines: bool,
    /// Whether the cited intent is unknown: then no line names it.
    pub is_unknown_intent: bool,
    /// Number of files whose content only the ledger has, for lack of room.
    pub without_room: u64,
}

/// Arguments of `record.lua` beside the terms of the admission.
#[derive(Serialize)]
struct RecordArgs<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    intent: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    is_reset_by_prompts: bool,
    entries: Vec<EntryArgs<'a>>,
}

#[derive(Serialize)]
struct EntryArgs<'a> {
    kind: &'static str,
    trace: &'a str,
    action_type: &'static str,
    payload: &'a str,
    result: &'a str,
    origin: &'a str,
    #[serde(flatten)]
    mutation: Option<&'a Mutation>,
}

/// The answer of `record.lua`.
#[derive(Deserialize)]
struct RecordAnswer {
    #[serde(default)]
    outcomes: Vec<RawStatus>,
    has_lines: bool,
    is_unknown_intent: bool,
    without_room: u64,
}

/// A [`RecordStatus`] as `record.lua` writes it.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum RawStatus {
    Success,
    Failure,
    Repeated,
    /// The status that was sent.
    Other,
}

/// Appends events to the ledger. One round trip. It counts against the limits like a release: finished work can always be recorded.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the events may have been recorded.
pub async fn record(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    record: &Record<'_>,
) -> Result<Admitted<RecordOutcome>, StoreError> {
    let request = RecordArgs {
        intent: record.intent,
        is_reset_by_prompts: record.is_reset_by_prompts,
        entries: record.events.iter().map(RecordedEvent::args).collect(),
    };
    let cost = (RequestKind::Release, record.events.len());
    let decode = |reply: &Reply| decode_outcome(reply, record.events);
    run(store, &RECORD, terms, cost, &request, decode).await
}

impl RecordedEvent {
    fn args(&self) -> EntryArgs<'_> {
        let (kind, mutation) = match &self.kind {
            RecordedKind::Mutation(mutation) => ("MUTATION", Some(mutation)),
            RecordedKind::Prompt => ("PROMPT", None),
            RecordedKind::End => ("END", None),
            RecordedKind::Other(_) => ("OTHER", None),
        };
        EntryArgs {
            kind,
            trace: self.trace_id.as_str(),
            action_type: self.line.action_type.as_str(),
            payload: &self.line.payload,
            result: &self.line.result,
            // The script adds the last quote.
            origin: self.line.origin.strip_suffix('"').unwrap_or(&self.line.origin),
            mutation,
        }
    }
}

fn decode_outcome(reply: &Reply, events: &[RecordedEvent]) -> Result<RecordOutcome, StoreError> {
    let answer: RecordAnswer = reply.object_of("RECORDED")?;
    if answer.outcomes.len() != events.len() {
        return Err(reply.malformed("another number of outcomes"));
    }
    let decode_status = |(raw, event): (&RawStatus, &RecordedEvent)| match (raw, &event.kind) {
        (RawStatus::Success, _) => Ok(RecordStatus::New(ResultStatus::Success)),
        (RawStatus::Failure, _) => Ok(RecordStatus::New(ResultStatus::Failure)),
        (RawStatus::Repeated, _) => Ok(RecordStatus::Repeated),
        (RawStatus::Other, RecordedKind::Other(status)) => Ok(RecordStatus::New(*status)),
        _ => Err(reply.malformed("an unknown outcome of an event")),
    };
    Ok(RecordOutcome {
        outcomes: answer
            .outcomes
            .iter()
            .zip(events)
            .map(decode_status)
            .collect::<Result<_, _>>()?,
        has_lines: answer.has_lines,
        is_unknown_intent: answer.is_unknown_intent,
        without_room: answer.without_room,
    })
}

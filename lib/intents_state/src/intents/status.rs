use coord_intents::intent::Status;
use coord_intents::ledger::State;
use serde::{Deserialize, Serialize};

use super::scripts::MOVE_INTENT;
use crate::run::run;
use coord_state::admission::{AdmissionTerms, Admitted, RequestKind, is_false};
use coord_state::reply::Reply;
use coord_store::{Store, StoreError};

/// Whether an intent may be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Criteria {
    /// All criteria are met.
    Met,
    /// Not all criteria are met, but the intent is completed anyway.
    Forced,
    /// Not all criteria are met.
    Unmet,
}

/// A change of the status of an intent, other than by its selection, as `move_intent.lua` reads it beside the terms of the admission.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Move<'a> {
    pub id: &'a str,
    pub status: Status,
    /// Whether the caller is a person.
    #[serde(skip_serializing_if = "is_false")]
    pub is_person: bool,
    /// Whether it may be completed.
    pub criteria: Criteria,
    /// Version of the registry on which `criteria` is based.
    pub seen: &'a str,
    /// The reason, or empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'a str,
    /// Origin of the line of the ledger.
    pub origin: &'a str,
}

/// The outcome of a change of status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveOutcome {
    /// The status is changed; the new state of the caller.
    Moved(State),
    /// There is no such intent.
    Unknown,
    /// The intent has this status, from which no transition leads to the new one.
    NoTransition(Status),
    /// The intent has this status, and only a person may make this change.
    Person(Status),
    /// Not all criteria are met.
    Criteria,
    /// The registry has changed, so the change must be decided again.
    Changed,
}

/// Changes the status of an intent.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn move_intent(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    change: &Move<'_>,
) -> Result<Admitted<MoveOutcome>, StoreError> {
    let decode = |reply: &Reply| match reply.outcome.as_str() {
        "MOVED" => Ok(MoveOutcome::Moved(decode_state(reply)?)),
        "UNKNOWN" => Ok(MoveOutcome::Unknown),
        "NO_TRANSITION" => Ok(MoveOutcome::NoTransition(decode_status(reply)?)),
        "PERSON" => Ok(MoveOutcome::Person(decode_status(reply)?)),
        "CRITERIA" => Ok(MoveOutcome::Criteria),
        "CHANGED" => Ok(MoveOutcome::Changed),
        _ => reply.unknown(),
    };
    run(store, &MOVE_INTENT, terms, (RequestKind::Read, 1), change, decode).await
}

#[derive(Deserialize)]
struct StatusAnswer {
    status: Status,
}

#[derive(Deserialize)]
struct StateAnswer {
    state: State,
}

/// The status of the intent in the answer.
pub(super) fn decode_status(reply: &Reply) -> Result<Status, StoreError> {
    Ok(reply.object::<StatusAnswer>()?.status)
}

/// The state of the caller in the answer.
pub(super) fn decode_state(reply: &Reply) -> Result<State, StoreError> {
    Ok(reply.object::<StateAnswer>()?.state)
}

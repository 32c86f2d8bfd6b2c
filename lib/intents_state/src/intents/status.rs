use coord_intents::intent::Status;
use coord_intents::ledger::State;
use serde::{Deserialize, Serialize};

use super::scripts::MOVE_INTENT;
use coord_state::admission::{AdmissionTerms, Admitted, Kind, decode_admission, is_false};
use coord_state::reply::{Reply, call};
use coord_state::request_keys::share_keys;
use coord_store::{Store, StoreError};

/// Whether an intent may be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Criteria {
    /// All criteria are met.
    Met,
    /// Not all of them, and it is to be completed anyway.
    Forced,
    /// Not all of them.
    Unmet,
}

/// A change of the status of an intent, but for its beginning, as `move_intent.lua` reads it beside the terms of the admission.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Move<'a> {
    pub id: &'a str,
    pub status: Status,
    /// Whether a person asks.
    #[serde(skip_serializing_if = "is_false")]
    pub is_person: bool,
    /// Whether it may be completed.
    pub criteria: Criteria,
    /// Version of the registry by which that was found out.
    pub seen: &'a str,
    /// Why, or empty.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'a str,
    /// Origin of the line of the ledger.
    pub origin: &'a str,
}

/// The outcome of a change of status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveOutcome {
    /// Done; the state of the caller.
    Moved(State),
    /// There is no such intent.
    Unknown,
    /// No way leads from this status to the new one.
    NoWay(Status),
    /// Only a person may do this.
    Person(Status),
    /// Not all criteria are met.
    Criteria,
    /// The registry has changed; decide anew.
    Changed,
}

/// Changes the status of an intent.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn move_intent(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    wanted: &Move<'_>,
) -> Result<Admitted<MoveOutcome>, StoreError> {
    let keys = share_keys(terms);
    let args = terms.request(Kind::Read, 1, &keys, wanted);
    let reply = call(store, &MOVE_INTENT, keys, args).await?;
    decode_admission(reply, |reply| match reply.outcome.as_str() {
        "MOVED" => Ok(MoveOutcome::Moved(state(&reply)?)),
        "UNKNOWN" => Ok(MoveOutcome::Unknown),
        "NO_WAY" => Ok(MoveOutcome::NoWay(status(&reply)?)),
        "PERSON" => Ok(MoveOutcome::Person(status(&reply)?)),
        "CRITERIA" => Ok(MoveOutcome::Criteria),
        "CHANGED" => Ok(MoveOutcome::Changed),
        _ => Err(reply.malformed("an unknown outcome")),
    })
}

#[derive(Deserialize)]
struct OfIntent {
    status: Status,
}

#[derive(Deserialize)]
struct OfCaller {
    state: State,
}

/// The status of an intent in an answer.
pub(super) fn status(reply: &Reply) -> Result<Status, StoreError> {
    Ok(reply.object::<OfIntent>()?.status)
}

/// The state of the caller in an answer.
pub(super) fn state(reply: &Reply) -> Result<State, StoreError> {
    Ok(reply.object::<OfCaller>()?.state)
}

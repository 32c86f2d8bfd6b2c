use coord_intents::intent::Status;
use coord_intents::ledger::State;
use serde::{Deserialize, Serialize};

use super::scripts::{DENY_SELECTION, SELECT_INTENT};
use super::status::{decode_state, decode_status};
use crate::run::run;
use coord_state::admission::{AdmissionTerms, Admitted, RequestKind};
use coord_state::reply::Reply;
use coord_store::{Store, StoreError};

/// The selection of an intent, as `select_intent.lua` and `deny_selection.lua` read it beside the terms of the admission.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Selection<'a> {
    pub id: &'a str,
    /// Version of the registry by which it was decided that the intent may begin.
    pub seen: &'a str,
    /// `payload` of the line of the ledger.
    pub payload: &'a str,
    /// `result` of that line.
    pub result: &'a str,
    /// Origin of that line.
    pub origin: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectOutcome {
    /// The intent is selected; the new state of the caller.
    Selected(State),
    /// There is no such intent.
    Unknown,
    /// The intent is blocked or has ended.
    NotActive(Status),
    /// Too many intents are active.
    Full,
    /// The caller's login has begun too many of the active intents.
    LoginFull,
    /// The registry has changed, so the selection must be decided again.
    Changed,
}

/// Selects an intent.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn select_intent(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    selection: &Selection<'_>,
) -> Result<Admitted<SelectOutcome>, StoreError> {
    let decode = |reply: &Reply| match reply.outcome.as_str() {
        "SELECTED" => Ok(SelectOutcome::Selected(decode_state(reply)?)),
        "UNKNOWN" => Ok(SelectOutcome::Unknown),
        "NOT_ACTIVE" => Ok(SelectOutcome::NotActive(decode_status(reply)?)),
        "TOO_MANY" => Ok(match limit_subject(reply)? {
            IntentLimitSubject::Repository => SelectOutcome::Full,
            IntentLimitSubject::Login => SelectOutcome::LoginFull,
        }),
        "CHANGED" => Ok(SelectOutcome::Changed),
        _ => reply.unknown(),
    };
    run(store, &SELECT_INTENT, terms, (RequestKind::Read, 1), selection, decode).await
}

/// Records that a selection was refused, and returns the state of the caller. `selection.seen` does not matter.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn deny_selection(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    selection: &Selection<'_>,
) -> Result<Admitted<State>, StoreError> {
    let decode = |reply: &Reply| {
        reply.check_outcome("NOTED")?;
        decode_state(reply)
    };
    run(store, &DENY_SELECTION, terms, (RequestKind::Read, 1), selection, decode).await
}

/// The subject that has too many intents.
#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum IntentLimitSubject {
    Repository,
    Login,
}

#[derive(Deserialize)]
struct IntentLimit {
    whose: IntentLimitSubject,
}

pub(super) fn limit_subject(reply: &Reply) -> Result<IntentLimitSubject, StoreError> {
    Ok(reply.object::<IntentLimit>()?.whose)
}

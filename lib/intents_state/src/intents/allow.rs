use coord_intents::intent::Status;
use coord_intents::ledger::State;
use serde::{Deserialize, Serialize};

use super::scripts::ALLOW_OVERLAP;
use super::status::{decode_state, decode_status};
use crate::run::run;
use coord_state::admission::{AdmissionTerms, Admitted, RequestKind};
use coord_state::reply::Reply;
use coord_store::{Store, StoreError};

/// The outcome of allowing two intents to overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllowOutcome {
    /// They may overlap; the new state of the caller.
    Allowed(State),
    /// There is no intent with this id.
    Unknown(String),
    /// One of them has ended, with this status.
    Ended(Status),
    /// One of them may already overlap with the maximum number of intents.
    Full,
}

/// Arguments of `allow_overlap.lua` beside the terms of the admission.
#[derive(Serialize)]
struct AllowOverlapArgs<'a> {
    id: &'a str,
    other: &'a str,
    origin: &'a str,
}

#[derive(Deserialize)]
struct UnknownIntent {
    id: String,
}

/// Allows the intents `id` and `other` to overlap.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn allow_overlap(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    id: &str,
    other: &str,
    origin: &str,
) -> Result<Admitted<AllowOutcome>, StoreError> {
    let request = AllowOverlapArgs { id, other, origin };
    let decode = |reply: &Reply| match reply.outcome.as_str() {
        "ALLOWED" => Ok(AllowOutcome::Allowed(decode_state(reply)?)),
        "UNKNOWN" => Ok(AllowOutcome::Unknown(reply.object::<UnknownIntent>()?.id)),
        "ENDED" => Ok(AllowOutcome::Ended(decode_status(reply)?)),
        "TOO_MANY" => Ok(AllowOutcome::Full),
        _ => reply.unknown(),
    };
    run(store, &ALLOW_OVERLAP, terms, (RequestKind::Read, 1), &request, decode).await
}

use coord_intents::intent::Status;
use coord_intents::ledger::State;
use serde::Serialize;

use super::scripts::TAKE_OVER;
use super::status::{decode_state, decode_status};
use crate::run::run;
use coord_domain::FilePath;
use coord_state::admission::{AdmissionTerms, Admitted, RequestKind};
use coord_state::reply::Reply;
use coord_store::{Store, StoreError};

/// The outcome of taking over files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeOutcome {
    /// The intent owns the files; the new state of the caller.
    Taken(State),
    /// There is no such intent.
    Unknown,
    /// The intent is not active.
    NotActive(Status),
    /// Too many files are owned.
    Full,
}

/// Arguments of `take_over.lua` beside the terms of the admission.
#[derive(Serialize)]
struct TakeOverArgs<'a> {
    id: &'a str,
    origin: &'a str,
    paths: &'a [FilePath],
}

/// Makes the intent `id` the owner of `paths`.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn take_over(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    id: &str,
    origin: &str,
    paths: &[FilePath],
) -> Result<Admitted<TakeOutcome>, StoreError> {
    let takeover = TakeOverArgs { id, origin, paths };
    let decode = |reply: &Reply| match reply.outcome.as_str() {
        "TAKEN" => Ok(TakeOutcome::Taken(decode_state(reply)?)),
        "UNKNOWN" => Ok(TakeOutcome::Unknown),
        "NOT_ACTIVE" => Ok(TakeOutcome::NotActive(decode_status(reply)?)),
        "TOO_MANY" => Ok(TakeOutcome::Full),
        _ => reply.unknown(),
    };
    run(
        store,
        &TAKE_OVER,
        terms,
        (RequestKind::Read, paths.len()),
        &takeover,
        decode,
    )
    .await
}

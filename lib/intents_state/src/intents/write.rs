use coord_intents::ledger::State;
use serde::Serialize;

use super::record::StoredIntent;
use super::scripts::WRITE_INTENT;
use super::select::{IntentLimitSubject, limit_subject};
use super::status::decode_state;
use crate::run::run;
use coord_state::admission::{AdmissionTerms, Admitted, RequestKind, is_false};
use coord_state::reply::Reply;
use coord_store::{Store, StoreError};

/// An intent to be stored.
#[derive(Clone, Copy, Debug)]
pub struct WrittenIntent<'a> {
    /// Version of the registry by which the change was decided; none for a new intent.
    pub seen: Option<&'a str>,
    pub stored: &'a StoredIntent,
    /// The digest of its scope; empty without one.
    pub digest: &'a str,
    /// Whether its holders have to know of the change.
    pub is_for_holders: bool,
    /// The change, for the line of the ledger.
    pub change: &'a str,
    /// The origin of that line.
    pub origin: &'a str,
    /// Whether the caller is a person.
    pub is_person: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The intent is written; the new state of the caller.
    Written(State),
    /// Another intent has this id.
    Exists,
    /// There are too many intents.
    Full,
    /// There are too many intents of the caller's login.
    LoginFull,
    /// There is no such intent.
    Unknown,
    /// The registry has changed, so the change must be decided again.
    Changed,
    /// The intent has begun, and belongs to another login.
    Person,
}

/// Arguments of `write_intent.lua` beside the terms of the admission.
#[derive(Serialize)]
struct WriteIntentArgs<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<&'a str>,
    text: &'a str,
    change: &'a str,
    origin: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    is_for_holders: bool,
    #[serde(skip_serializing_if = "is_false")]
    is_person: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    intent_branch: Option<&'a str>,
    digest: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_turns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    owner: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    assigned: Option<&'a str>,
}

/// Writes an intent.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn write_intent(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    written: &WrittenIntent<'_>,
) -> Result<Admitted<WriteOutcome>, StoreError> {
    let intent = &written.stored.intent;
    let text = serde_json::to_string(written.stored).map_err(|error| StoreError::Malformed(error.to_string()))?;
    let budget = intent.budget.unwrap_or_default();
    let write = WriteIntentArgs {
        id: &intent.id,
        seen: written.seen,
        text: &text,
        change: written.change,
        origin: written.origin,
        is_for_holders: written.is_for_holders,
        is_person: written.is_person,
        intent_branch: intent.branch.as_deref(),
        digest: written.digest,
        max_turns: budget.max_turns,
        max_tokens: budget.max_tokens,
        owner: written.stored.author(),
        assigned: intent.assigned_agent.as_deref(),
    };
    let decode = |reply: &Reply| match reply.outcome.as_str() {
        "WRITTEN" => Ok(WriteOutcome::Written(decode_state(reply)?)),
        "EXISTS" => Ok(WriteOutcome::Exists),
        "TOO_MANY" => Ok(match limit_subject(reply)? {
            IntentLimitSubject::Repository => WriteOutcome::Full,
            IntentLimitSubject::Login => WriteOutcome::LoginFull,
        }),
        "UNKNOWN" => Ok(WriteOutcome::Unknown),
        "CHANGED" => Ok(WriteOutcome::Changed),
        "PERSON" => Ok(WriteOutcome::Person),
        _ => reply.unknown(),
    };
    run(store, &WRITE_INTENT, terms, (RequestKind::Read, 1), &write, decode).await
}
